import { ActionIcon } from '@mantine/core'
import {
  IconDownload,
  IconExternalLink,
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerSkipForward,
  IconRewindBackward5,
  IconRewindForward5,
} from '@tabler/icons-react'
import type { RefObject } from 'react'
import { asMoment } from '../../components/figures.ts'
import classes from './timeline.module.css'
import type { AudioState } from './use-audio.ts'

export const stepSeconds = 5
const speeds = [0.75, 1, 1.25, 1.5, 2]

/** Whether silence is skipped. */
export interface Skipping {
  isOn: boolean
  setIsOn: (isOn: boolean) => void
}

interface PlayButtonsProps {
  state: AudioState
  duration: number
  onToggle: () => void
  /** Moves by some seconds. */
  onMove: (seconds: number) => void
}

export function PlayButtons({ state, duration, onToggle, onMove }: PlayButtonsProps) {
  return (
    <>
      <ActionIcon
        size={28}
        radius="xl"
        aria-label={state.isPlaying ? 'Pause' : 'Play'}
        data-hint={state.isPlaying ? 'Pause (p)' : 'Play (p)'}
        loading={state.isWaiting}
        onClick={onToggle}
      >
        {state.isPlaying ? <IconPlayerPauseFilled size={14} /> : <IconPlayerPlayFilled size={14} />}
      </ActionIcon>
      <span className={classes.steps}>
        <Control label="5 seconds back" keys="," onClick={() => onMove(-stepSeconds)}>
          <IconRewindBackward5 size={18} />
        </Control>
        <Control label="5 seconds on" keys="." onClick={() => onMove(stepSeconds)}>
          <IconRewindForward5 size={18} />
        </Control>
      </span>
      <span className={classes.time}>
        {asMoment(state.seconds)} <span className="cb-dimmed">/ {asMoment(duration)}</span>
      </span>
    </>
  )
}

interface PlayerMenuProps {
  audio: RefObject<HTMLAudioElement | null>
  /** Of the recording. */
  path: string
  /** Whether the service keeps it; otherwise it is opened where it is. */
  isKept: boolean
  /** Null where no silence is known. */
  skipping: Skipping | null
}

export function PlayerMenu({ audio, path, isKept, skipping }: PlayerMenuProps) {
  const link = { component: 'a', href: path, variant: 'subtle', color: 'gray', size: 28 } as const
  return (
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
      {isKept ? (
        <ActionIcon {...link} download aria-label="Download the recording" data-hint="Download">
          <IconDownload size={16} />
        </ActionIcon>
      ) : (
        <ActionIcon
          {...link}
          target="_blank"
          rel="noreferrer"
          aria-label="Open the recording"
          data-hint="Open the recording"
        >
          <IconExternalLink size={16} />
        </ActionIcon>
      )}
    </span>
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
