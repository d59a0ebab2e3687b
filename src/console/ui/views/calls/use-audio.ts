import { type RefObject, useEffect, useState } from 'react'

/** What an audio element does. */
export interface AudioState {
  seconds: number
  /** Of the whole; null until the browser knows it. */
  duration: number | null
  isPlaying: boolean
  /** It plays once more of it has arrived. */
  isWaiting: boolean
  isFailed: boolean
}

const events = [
  'timeupdate',
  'seeking',
  'seeked',
  'durationchange',
  'play',
  'playing',
  'pause',
  'waiting',
  'ended',
  'error',
  'emptied',
] as const

/** Follows an audio element. @param startAt where it starts, in seconds */
export function useAudio(ref: RefObject<HTMLAudioElement | null>, startAt: number): AudioState {
  const [start] = useState(startAt)
  const [state, setState] = useState<AudioState>({
    seconds: start,
    duration: null,
    isPlaying: false,
    isWaiting: false,
    isFailed: false,
  })
  useEffect(() => {
    const audio = ref.current
    if (!audio) return
    // Before anything is loaded this is where it starts to play.
    audio.currentTime = start
    const follow = () => setState(stateOf(audio))
    for (const event of events) audio.addEventListener(event, follow)
    return () => {
      for (const event of events) audio.removeEventListener(event, follow)
    }
  }, [ref, start])
  return state
}

function stateOf(audio: HTMLAudioElement): AudioState {
  return {
    seconds: audio.currentTime,
    duration: Number.isFinite(audio.duration) ? audio.duration : null,
    isPlaying: !audio.paused,
    isWaiting: !audio.paused && audio.readyState < audio.HAVE_FUTURE_DATA,
    isFailed: audio.error !== null,
  }
}

/** Plays from a moment, in seconds. */
export function playFrom(audio: HTMLAudioElement | null, seconds: number): void {
  if (!audio) return
  seek(audio, seconds)
  play(audio)
}

/** A failure is an event of its own, and a pause meanwhile is none. */
export function play(audio: HTMLAudioElement): void {
  void audio.play().catch(() => undefined)
}

export function seek(audio: HTMLAudioElement, seconds: number): void {
  const end = Number.isFinite(audio.duration) ? audio.duration : Number.POSITIVE_INFINITY
  audio.currentTime = Math.max(0, Math.min(seconds, end))
  // Before anything is loaded, the browser says nothing of it.
  if (audio.readyState === audio.HAVE_NOTHING) audio.dispatchEvent(new Event('seeked'))
}
