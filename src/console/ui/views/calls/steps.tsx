import { IconArrowForwardUp, IconBook2, IconChevronRight, IconPoint, IconTool } from '@tabler/icons-react'
import { useState } from 'react'
import type { TimelineEntry } from '../../../../calls/schemas.ts'
import { asCount, asDuration } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { type RetrievedItem, retrievedIn } from './retrieved.ts'
import { stepNames } from './step-names.ts'
import classes from './transcript.module.css'

const stepsShown = 200
const namesShown = 3
const itemsShown = 10

/** What happened between two turns, on one line, which opens to show tools' arguments and results. */
export function Steps({ steps }: { steps: readonly TimelineEntry[] }) {
  const [isOpen, setIsOpen] = useState(false)
  const items = retrievedIn(steps)
  if (!steps.some(({ text }) => text)) {
    return (
      <div className={`${classes.steps} ${classes.stepsLine}`}>
        <StepsTitle steps={steps} />
      </div>
    )
  }
  return (
    <div className={classes.steps}>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary className={classes.stepsLine}>
          <StepsTitle steps={steps} />
          <IconChevronRight size={14} className={classes.stepsChevron} aria-hidden />
        </summary>
        {isOpen && (
          <ol className={classes.stepsList}>
            {Object.entries(steps.slice(0, stepsShown)).map(([place, step]) => (
              <Step key={place} step={step} />
            ))}
            {steps.length > stepsShown && (
              <li className="cb-dimmed">and {asCount(steps.length - stepsShown)} more</li>
            )}
          </ol>
        )}
      </details>
      {items.length > 0 && <RetrievedItems items={items} />}
    </div>
  )
}

/** The knowledge items in a tool's answer. */
function RetrievedItems({ items }: { items: readonly RetrievedItem[] }) {
  const project = useProject()
  return (
    <p className={classes.retrieved}>
      <IconBook2 size={14} aria-hidden />
      <span>
        Retrieved:{' '}
        {items.slice(0, itemsShown).map(({ id, name }, at) => (
          <span key={id}>
            {at > 0 && ', '}
            <PageLink to="/p/$project/knowledge/$item" params={{ project: project.id, item: id }} inherit>
              {name ?? id}
            </PageLink>
          </span>
        ))}
        {items.length > itemsShown && ` and ${items.length - itemsShown} more`}
      </span>
    </p>
  )
}

function StepsTitle({ steps }: { steps: readonly TimelineEntry[] }) {
  const titles = stepNames(steps)
  const rest = titles.length - namesShown
  const hasTransfer = steps.some(({ kind }) => kind === 'transfer')
  const hasTool = steps.some(({ kind }) => kind === 'tool_call' || kind === 'tool_result')
  const Icon = hasTransfer ? IconArrowForwardUp : hasTool ? IconTool : IconPoint
  return (
    <>
      <Icon size={14} aria-hidden />
      <span className={classes.stepsTitle}>
        {titles.slice(0, namesShown).join(', ')}
        {rest > 0 && ` and ${asCount(rest)} more`}
      </span>
      {steps[0] && <At seconds={steps[0].atSeconds} />}
    </>
  )
}

const kindLabels = {
  turn: 'Turn',
  tool_call: 'Called with',
  tool_result: 'Answered',
  transfer: 'Transfer',
  other: 'Event',
}

function Step({ step: { kind, name, text, atSeconds } }: { step: TimelineEntry }) {
  return (
    <li className={classes.step}>
      <span className={classes.stepHead}>
        {name && <span className={`cb-mono ${classes.stepName}`}>{name}</span>}
        <span>{kindLabels[kind]}</span>
        <At seconds={atSeconds} />
      </span>
      {text && <pre dir="auto">{readable(text)}</pre>}
    </li>
  )
}

/** `0:04` from the start of the call. */
export function At({ seconds }: { seconds: number }) {
  return (
    <span className={classes.at}>
      <span className="cb-hidden">at </span>
      {asDuration(seconds)}
    </span>
  )
}

/** JSON is indented; any other text is shown as it is. */
function readable(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // It only looked like JSON.
    return text
  }
}
