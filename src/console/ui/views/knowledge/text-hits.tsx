import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { Highlight } from '../../components/highlight.tsx'
import { PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { excerptOf, rangesOf } from './excerpt.ts'
import classes from './knowledge.module.css'
import { passagesMax, textHitsQuery } from './queries.ts'

interface TextHitsProps {
  project: string
  words: string
}

/** The items that have these words in their texts, each with its best passage. */
export function TextHits({ project, words }: TextHitsProps) {
  const { data: hits, error, isPlaceholderData, refetch } = useQuery(textHitsQuery(project, words))
  if (error && !hits)
    return <Problem title="The texts could not be searched" error={error} onRetry={() => void refetch()} />
  if (!hits || hits.passages === 0) return null
  return (
    <section aria-label="In texts" data-stale={isPlaceholderData || undefined} className={classes.hits}>
      <h2>In texts</h2>
      <p className="cb-dimmed">
        {hits.passages < passagesMax
          ? 'Passages that have the most of these words, in any of their forms.'
          : `The best ${passagesMax} passages for these words, in any of their forms.`}
      </p>
      <ul>
        {hits.items.map((hit) => (
          <Hit key={hit.itemId} project={project} hit={hit} />
        ))}
      </ul>
    </section>
  )
}

function Hit({ project, hit }: { project: string; hit: ExplainedHit }) {
  const excerpt = excerptOf(hit.text, hit.forms)
  return (
    <li>
      <PageLink
        to="/p/$project/knowledge/$item"
        params={{ project, item: hit.itemId }}
        c="inherit"
        fw={500}
        dir="auto"
      >
        {hit.name}
      </PageLink>
      {hit.heading && hit.heading !== hit.name && (
        <Text span size="xs" c="dimmed" dir="auto">
          {' '}
          {hit.heading}
        </Text>
      )}
      <p dir="auto" className={classes.excerpt}>
        <Highlight text={excerpt} ranges={rangesOf(excerpt, hit.forms)} />
      </p>
    </li>
  )
}
