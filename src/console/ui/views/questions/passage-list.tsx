import { Stack, Text } from '@mantine/core'
import type { FoundPassage } from '../../../../knowledge/questions/hits.ts'
import { PageLink } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import classes from './questions.module.css'

interface PassageListProps {
  passages: readonly FoundPassage[]
  /** ISO 8601: when they were found; passages that were changed since are marked. */
  askedAt?: string
}

/** A passage begins with its headings in Markdown, which are shown above it. */
function plain(text: string): string {
  return text.replace(/^(?:#{1,6} [^\n]*\n+)+/, '').replace(/^#{1,6} /gm, '')
}

/** The passages that a question found, best first, with their items. */
export function PassageList({ passages, askedAt }: PassageListProps) {
  if (passages.length === 0) return <p className="cb-dimmed">No passage was found.</p>
  return (
    <Stack component="ol" gap="xs" maw={720} className={classes.passages}>
      {passages.map(({ rank, item, heading, text, changedAt }) => (
        <li key={rank}>
          <span className="cb-figure cb-dimmed">{rank}</span>
          <div>
            {item ? (
              <PageLink {...to.item(item.id)} fw={500}>
                <bdi>{item.name}</bdi>
              </PageLink>
            ) : (
              <span className="cb-dimmed">An item that was deleted</span>
            )}
            {heading && heading !== item?.name && (
              <span className="cb-dimmed">
                {' › '}
                <bdi>{heading}</bdi>
              </span>
            )}
            {askedAt && changedAt && changedAt > askedAt && (
              <span className="cb-dimmed"> · changed since</span>
            )}
            {text !== null && (
              <Text size="sm" lineClamp={2} dir="auto">
                {plain(text)}
              </Text>
            )}
            {item && text === null && <p className="cb-dimmed">This passage is no longer in the item.</p>}
          </div>
        </li>
      ))}
    </Stack>
  )
}
