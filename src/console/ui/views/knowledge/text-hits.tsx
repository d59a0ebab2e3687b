import { Stack, Text } from '@mantine/core'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { Highlight } from '../../components/highlight.tsx'
import { PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { excerptOf, rangesOf } from './excerpt.ts'
import classes from './knowledge.module.css'
import { passagesMax, useTextHits } from './queries.ts'

/** The items that have these words in their texts, each with its best passage. */
export function TextHits({ words }: { words: string }) {
  const { data: hits, error, isPlaceholderData, refetch } = useTextHits(words)
  if (error && !hits)
    return <Problem title="The texts could not be searched" error={error} onRetry={() => void refetch()} />
  if (!hits || hits.passages === 0) return null
  return (
    <Stack component="section" gap="xs" aria-label="In texts" data-stale={isPlaceholderData || undefined}>
      <h2>In texts</h2>
      <p className="cb-dimmed">
        {hits.passages < passagesMax
          ? 'Passages that have the most of these words, in any of their forms.'
          : `The best ${passagesMax} passages for these words, in any of their forms.`}
      </p>
      <ul className={classes.hits}>
        {hits.items.map((hit) => (
          <Hit key={hit.itemId} hit={hit} />
        ))}
      </ul>
    </Stack>
  )
}

function Hit({ hit }: { hit: ExplainedHit }) {
  const excerpt = excerptOf(hit.text, hit.forms)
  return (
    <li>
      <PageLink {...to.item(hit.itemId)} c="inherit" fw={500} dir="auto">
        {hit.name}
      </PageLink>
      {hit.heading && hit.heading !== hit.name && (
        <Text span size="xs" c="dimmed" dir="auto">
          {' '}
          {hit.heading}
        </Text>
      )}
      <p dir="auto" className="cb-wrap">
        <Highlight text={excerpt} ranges={rangesOf(excerpt, hit.forms)} />
      </p>
    </li>
  )
}
