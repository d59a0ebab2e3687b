import { useSyncExternalStore } from 'react'

/** What a recording does; nothing where there is none. */
interface Playing {
  isPlaying: boolean
  /** It plays once more of it has arrived. */
  isWaiting: boolean
  isFailed: boolean
  /** Of the whole, in seconds; null until the browser knows it. */
  duration: number | null
}

const atRest: Playing = { isPlaying: false, isWaiting: false, isFailed: false, duration: null }

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

export type Clock = ReturnType<typeof createClock>

/** The playhead of a call, in seconds. Where there is a recording it is the recording's; otherwise only people move it. */
export function createClock(startAt: number) {
  let audio: HTMLAudioElement | null = null
  let position = startAt
  let playing = atRest
  const listeners = new Set<() => void>()
  const follow = () => {
    if (audio) {
      position = audio.currentTime
      playing = playingOf(audio)
    }
    for (const listener of listeners) listener()
  }
  const now = () => audio?.currentTime ?? position
  const seek = (to: number) => {
    if (audio) audio.currentTime = Math.max(0, Math.min(to, playing.duration ?? to))
    else position = Math.max(0, to)
    // Before anything is loaded, the browser says nothing of it.
    if (!audio || audio.readyState === audio.HAVE_NOTHING) follow()
  }
  return {
    now,
    seek,
    /** A failure is an event of its own, and a pause meanwhile is none. */
    play: () => void audio?.play().catch(() => undefined),
    audio: () => audio,
    /** Follows the recording's element. Returns how to leave it. */
    attach: (element: HTMLAudioElement) => {
      audio = element
      // Before anything is loaded this is where it starts to play.
      element.currentTime = position
      for (const event of events) element.addEventListener(event, follow)
      return () => {
        for (const event of events) element.removeEventListener(event, follow)
        if (audio === element) audio = null
      }
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    /** What was told last; `now` may be further. */
    position: () => position,
    playing: () => playing,
  }
}

/** What `read` says of the clock, again whenever that changes. */
export function useClock<Value>(clock: Clock, read: (clock: Clock) => Value): Value {
  return useSyncExternalStore(clock.subscribe, () => read(clock))
}

function playingOf(audio: HTMLAudioElement): Playing {
  return {
    isPlaying: !audio.paused,
    isWaiting: !audio.paused && audio.readyState < audio.HAVE_FUTURE_DATA,
    isFailed: audio.error !== null,
    duration: Number.isFinite(audio.duration) ? audio.duration : null,
  }
}
