import { Group, Text } from '@mantine/core'
import type { ExplainedSearch } from '../../../../knowledge/search/explain.ts'

const parts = [
  { name: 'embedding', label: 'Embedding', color: 'var(--mantine-color-violet-5)' },
  { name: 'vector', label: 'Vector', color: 'var(--mantine-color-blue-5)' },
  { name: 'keyword', label: 'Keyword', color: 'var(--mantine-color-teal-5)' },
  { name: 'fusion', label: 'Fusion', color: 'var(--mantine-color-gray-5)' },
] as const

interface TimeBarProps {
  shares: ExplainedSearch['shares']
  tookMs: number
}

/** Where a search spent its time. Keyword and vector search run side by side, so the sum may exceed the total. */
export function TimeBar({ shares, tookMs }: TimeBarProps) {
  const all = Math.max(
    0.001,
    parts.reduce((sum, { name }) => sum + shares[name], 0),
  )
  return (
    <div>
      <div
        aria-hidden
        style={{ display: 'flex', height: 6, borderRadius: 3, overflow: 'hidden', gap: 1, marginBottom: 6 }}
      >
        {parts.map(({ name, color }) => (
          <div key={name} style={{ width: `${(100 * shares[name]) / all}%`, background: color }} />
        ))}
      </div>
      <Group gap="md">
        <Text size="xs" fw={600} className="cb-figure">
          {tookMs.toFixed(1)} ms
        </Text>
        {parts.map(({ name, label, color }) => (
          <Group key={name} gap={6}>
            <span aria-hidden style={{ width: 8, height: 8, borderRadius: 2, background: color }} />
            <Text size="xs" c="dimmed" className="cb-figure">
              {label} {shares[name].toFixed(1)} ms
            </Text>
          </Group>
        ))}
      </Group>
    </div>
  )
}
