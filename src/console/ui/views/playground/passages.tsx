import { Paper, Stack, Text } from '@mantine/core'
import type { ExplainedSearch } from '../../../../knowledge/search/explain.ts'
import { Empty } from '../../components/empty.tsx'
import { HitCard } from './hit-card.tsx'
import type { AskRequest } from './request.ts'
import { TimeBar } from './time-bar.tsx'

interface PassagesProps {
  project: string
  request: AskRequest
  answer: ExplainedSearch
}

/** What an agent would receive, and how long each step took. */
export function Passages({ project, request, answer }: PassagesProps) {
  return (
    <Stack gap="sm" aria-live="polite" component="section" aria-label="Passages">
      <Paper withBorder p="sm">
        <TimeBar timed={answer} />
        {answer.mode !== (request.mode ?? 'hybrid') && (
          <Text size="xs" mt={6}>
            Only {answer.mode} search answered: the question’s embedding did not arrive in time.
          </Text>
        )}
      </Paper>
      {answer.data.length === 0 && (
        <Empty title="No passage found">
          Nothing matches this question. Rephrase it or add the missing knowledge.
        </Empty>
      )}
      {answer.data.length > 0 && !answer.data.some(({ matched }) => matched.keyword) && (
        <Text size="sm">
          {answer.mode === 'vector'
            ? 'Keyword search did not run. These passages are the closest in meaning, even if they are far off.'
            : 'No passage contains these words. These passages are the closest in meaning, even if they are far off.'}
        </Text>
      )}
      {answer.data.map((hit, at) => (
        <HitCard key={`${hit.itemId} ${hit.position}`} project={project} rank={at + 1} hit={hit} />
      ))}
    </Stack>
  )
}
