import { ActionIcon } from '@mantine/core'
import {
  IconDownload,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerSkipForward,
  IconRewindBackward5,
  IconRewindForward5,
} from '@tabler/icons-react'
import type { RefObject } from 'react'
import { asDuration } from '../../components/figures.ts'
import classes from './player.module.css'
import type { AudioState } from './use-audio.ts'

export const stepSeconds = 5
const speeds = [0.75, 1, 1.25, 1.5, 2]

/** Whether silence is skipped. */
export interface Skipping {
  isOn: boolean
  setIsOn: (isOn: boolean) => void
}

interface PlayerControlsProps {
  audio: RefObject<HTMLAudioElement | null>
  state: AudioState
  duration: number
  /** Of the recording, to download it. */
  path: string
  /** Null where no silence is known. */
  skipping: Skipping | null
  onToggle: () => void
  /** Moves by some seconds. */
  onMove: (seconds: number) => void
}

/** The buttons of the player. They stay on top while the transcript is read. */
export function PlayerControls({
  audio,
  state,
  duration,
  path,
  skipping,
  onToggle,
  onMove,
}: PlayerControlsProps) {
  return (
    <section className={classes.controls} aria-label="Recording">
      <ActionIcon
        size={32}
        radius="xl"
        aria-label={state.isPlaying ? 'Pause' : 'Play'}
        data-hint={state.isPlaying ? 'Pause (p)' : 'Play (p)'}
        loading={state.isWaiting}
        onClick={onToggle}
      >
        {state.isPlaying ? <IconPlayerPauseFilled size={16} /> : <IconPlayerPlayFilled size={16} />}
      </ActionIcon>
      <Control label="5 seconds back" keys="," onClick={() => onMove(-stepSeconds)}>
        <IconRewindBackward5 size={18} />
      </Control>
      <Control label="5 seconds on" keys="." onClick={() => onMove(stepSeconds)}>
        <IconRewindForward5 size={18} />
      </Control>
      <span className={classes.time}>
        {asDuration(state.seconds)} <span className="cb-dimmed">/ {asDuration(duration)}</span>
      </span>
      <span className={classes.more}>
        {skipping && (
          <Control
            label="Skip silence"
            isPressed={skipping.isOn}
            onClick={() => skipping.setIsOn(!skipping.isOn)}
          >
            <IconPlayerSkipForward size={16} />
          </Control>
        )}
        <Speed audio={audio} />
        <ActionIcon
          component="a"
          href={path}
          download
          variant="subtle"
          color="gray"
          size={28}
          aria-label="Download the recording"
          data-hint="Download"
        >
          <IconDownload size={16} />
        </ActionIcon>
      </span>
    </section>
  )
}

interface ControlProps {
  label: string
  keys?: string
  isPressed?: boolean
  onClick: () => void
  children: React.ReactNode
}

function Control({ label, keys, isPressed, onClick, children }: ControlProps) {
  return (
    <ActionIcon
      variant={isPressed ? 'light' : 'subtle'}
      color={isPressed ? undefined : 'gray'}
      size={28}
      aria-label={label}
      aria-pressed={isPressed}
      data-hint={keys ? `${label} (${keys})` : label}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  )
}

function Speed({ audio }: { audio: RefObject<HTMLAudioElement | null> }) {
  return (
    <select
      className={classes.speed}
      aria-label="Speed"
      defaultValue={1}
      onChange={({ currentTarget }) => {
        const speed = Number(currentTarget.value)
        if (!audio.current) return
        // The first is reset when the element loads again.
        audio.current.playbackRate = speed
        audio.current.defaultPlaybackRate = speed
      }}
    >
      {speeds.map((speed) => (
        <option key={speed} value={speed}>
          {speed}×
        </option>
      ))}
    </select>
  )
}
