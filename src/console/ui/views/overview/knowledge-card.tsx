import { Skeleton } from '@mantine/core'
import { IconCheck, IconClock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { KnowledgeFigures } from '../../../../knowledge/knowledge.ts'
import { asCount, counted } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { Card } from './card.tsx'
import classes from './overview.module.css'
import { knowledgeQuery } from './overview-queries.ts'

/** How much knowledge there is, and how much of it is not indexed yet. */
export function KnowledgeCard() {
  const project = useProject()
  const query = useQuery(knowledgeQuery(project.id))
  return (
    <Card
      title="Knowledge"
      aside={
        <PageLink to="/p/$project/knowledge" params={{ project: project.id }} size="sm">
          All items
        </PageLink>
      }
      query={query}
      skeleton={<Skeleton height={84} />}
    >
      {(figures) => <Known {...figures} />}
    </Card>
  )
}

function Known({ items, chunks, pendingChunks }: KnowledgeFigures) {
  const ready = chunks - pendingChunks
  return (
    <>
      <dl className={classes.known}>
        <div>
          <dt>Items</dt>
          <dd>{asCount(items)}</dd>
        </div>
        <div>
          <dt>Chunks</dt>
          <dd>{asCount(chunks)}</dd>
        </div>
        <div>
          <dt>Pending</dt>
          <dd>{asCount(pendingChunks)}</dd>
        </div>
      </dl>
      {pendingChunks > 0 ? (
        <StatusBadge tone="warning" icon={<IconClock size={12} stroke={2} />}>
          Indexing {asCount(ready)}/{counted(chunks, 'chunk')}
        </StatusBadge>
      ) : chunks > 0 ? (
        <StatusBadge tone="success" icon={<IconCheck size={12} stroke={2.5} />}>
          All chunks are indexed
        </StatusBadge>
      ) : (
        <p className={classes.cardNone}>No knowledge yet</p>
      )}
    </>
  )
}
