import { Group, Text } from '@mantine/core'
import type { ExplainedSearch } from '../../../../knowledge/search/explain.ts'
import classes from './playground.module.css'
import { timeSegments } from './time-segments.ts'

const parts = [
  { name: 'embedding', label: 'Embedding', color: 'var(--cb-accent)' },
  { name: 'vector', label: 'Vector', color: 'var(--cb-chart)' },
  { name: 'keyword', label: 'Keyword', color: 'var(--mantine-color-text)' },
  { name: 'fusion', label: 'Fusion', color: 'var(--cb-chart-faint)' },
] as const

const lineHeight = 5
const gap = 2

interface TimeBarProps {
  timed: Pick<ExplainedSearch, 'shares' | 'starts' | 'tookMs'>
}

/** When the parts of a search ran: what ran side by side is on two lines, one below the other. */
export function TimeBar({ timed }: TimeBarProps) {
  const { shares, tookMs } = timed
  return (
    <div>
      <div aria-hidden className={classes.timeBar} style={{ height: 2 * lineHeight + gap }}>
        {timeSegments(timed).map(({ name, line, from, width }) => (
          <div
            key={name}
            style={{
              left: `${100 * from}%`,
              width: `${100 * width}%`,
              top: line === 1 ? lineHeight + gap : 0,
              height: line === null ? 2 * lineHeight + gap : lineHeight,
              background: colorOf(name),
            }}
          />
        ))}
      </div>
      <Group gap="md">
        <Text size="xs" fw={600} className="cb-figure">
          {tookMs.toFixed(1)} ms
        </Text>
        {parts.map(({ name, label, color }) => (
          <Group key={name} gap={6}>
            <span
              aria-hidden
              className={classes.timePart}
              style={{ width: 8, height: 8, borderRadius: 2, background: color }}
            />
            <Text size="xs" c="dimmed" className="cb-figure">
              {label} {shares[name].toFixed(1)} ms
            </Text>
          </Group>
        ))}
      </Group>
    </div>
  )
}

function colorOf(name: (typeof parts)[number]['name']): string | undefined {
  return parts.find((part) => part.name === name)?.color
}
