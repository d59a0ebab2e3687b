import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { receiptQuery } from './receipt-queries.ts'
import classes from './settings.module.css'

/** How far an erasure is, and its receipt once no byte is left. */
export default function ReceiptProgress({ id, onDone }: { id: string; onDone?: () => void }) {
  const { id: project } = useProject()
  const { data, error } = useQuery(receiptQuery(project, id))
  const isDone = data?.status === 'done'
  useEffect(() => {
    if (isDone) onDone?.()
  }, [isDone, onDone])
  if (error) return <Problem error={error} title="The receipt could not be loaded" />
  if (!data) return null
  const { calls = 0, deleted = 0, onHold = 0, doneAt } = data
  return (
    <div className="cb-stack" role="status">
      {doneAt === null ? (
        <>
          <p>
            Deleted {deleted} of {counted(calls, 'call')}. Their bytes are erased next. You can leave this
            page.
          </p>
          <progress
            className={classes.progress}
            value={calls ? deleted : 1}
            max={calls || 1}
            aria-label="Deleted calls"
          />
        </>
      ) : (
        <p>
          Erased {counted(deleted, 'call')}. The last byte was gone on <Instant at={doneAt} as="absolute" />.
          {onHold > 0 && ` ${counted(onHold, 'call')} on hold not erased.`}
        </p>
      )}
      <PageLink to="/p/$project/settings/privacy/receipts/$receipt" params={{ project, receipt: id }}>
        Open the receipt
      </PageLink>
    </div>
  )
}
