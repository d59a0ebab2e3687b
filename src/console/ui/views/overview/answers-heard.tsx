import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Unmeasurable } from '../../../../calls/sound/figures.ts'
import { asCount, counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import { facetCountsQuery } from '../calls/call-queries.ts'
import { ChartCard, type ChartCardProps } from './chart-card.tsx'

/** Behind how many. */
const reasons: Record<Unmeasurable, string> = {
  mono: 'with one channel',
  mixed: 'with both voices in each channel',
  noisy: 'too noisy',
  channels: 'with more than two channels',
  format: 'in another format',
  damaged: 'damaged',
  short: 'too short',
  long: 'too long',
}

/** The chart of what callers waited for by their recordings, and of how many calls that is known. Left out without recordings. */
export function AnswersHeard(props: ChartCardProps) {
  const { id: project } = useProject()
  const { from, to } = props.period
  const { data } = useQuery(facetCountsQuery(project, 'soundReason', { from, to }))
  const { none = 0, measured = 0, waiting = 0, ...others } = data?.counts ?? {}
  const all = [none, measured, waiting, ...Object.values(others)].reduce((sum, calls) => sum + calls)
  if (none === all && !props.arranging) return null
  const why = Object.entries(others)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, calls]) => `${asCount(calls)} ${reasons[reason as Unmeasurable]}`)
  const words = [`Sound measured of ${asCount(measured)} of ${counted(all, 'call')}`, why.join(', ')]
  const note = (
    <Text size="xs" c="dimmed" mt="xs">
      {words.filter(Boolean).join('; ')}
    </Text>
  )
  return <ChartCard {...props} note={note} />
}
