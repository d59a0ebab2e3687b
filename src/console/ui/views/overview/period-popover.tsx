import { Popover } from '@mantine/core'
import Calendar from '../../components/calendar.tsx'
import type { PopupProps } from '../../components/popup.tsx'

interface PeriodPopoverProps extends PopupProps {
  /** The first and the last day of the period. */
  days: [string | null, string | null]
  onChoose: (from: string, to: string) => void
  today: string
}

/** Chooses a range of days. In a module of its own, loaded when it is asked for. */
export default function PeriodPopover({
  days,
  onChoose,
  today,
  target,
  opened,
  onChange,
}: PeriodPopoverProps) {
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown>
        <Calendar
          of="two"
          days={days}
          onChoose={(from, to) => {
            onChange(false)
            onChoose(from, to)
          }}
          today={today}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
