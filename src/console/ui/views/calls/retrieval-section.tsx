import { IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { read } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { useProject } from '../../session.ts'
import classes from './call.module.css'
import { leftGap } from './left-gap.ts'

const RetrievalList = lazy(() => import('./retrieval-list.tsx'))

/** What the agent asked the project's knowledge during the call, folded: how much it lacked is seen at once. */
export function RetrievalSection({ id }: { id: string }) {
  const { of } = useProject()
  const [isOpen, setIsOpen] = useState(false)
  const { data } = useQuery(read(of.questions.calls({ call: id })))
  if (!data || data.data.length === 0) return null
  const gaps = data.data.filter((question) => leftGap(question, data.gapCoverage)).length
  return (
    <details className={classes.folded} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className={classes.foldedLine}>
        <IconChevronRight size={14} className={classes.foldedChevron} aria-hidden />
        Knowledge: {counted(data.data.length, 'question')}
        {gaps > 0 && `, ${counted(gaps, 'gap')}`}
      </summary>
      {isOpen && (
        <Suspense>
          <RetrievalList call={id} {...data} />
        </Suspense>
      )}
    </details>
  )
}
