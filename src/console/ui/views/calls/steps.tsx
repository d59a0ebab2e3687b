import { Group } from '@mantine/core'
import {
  IconAlertTriangleFilled,
  IconArrowForwardUp,
  IconBook2,
  IconChevronRight,
  IconPoint,
  IconTool,
} from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import type { TimelineEntry } from '../../../../calls/schemas.ts'
import { CopyButton } from '../../components/code.tsx'
import { asCount, asMilliseconds, asMoment } from '../../components/figures.ts'
import { JsonTree } from '../../components/json-tree.tsx'
import { PageLink } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import { type RetrievedItem, type Step, secondsOf, stepName } from './step.ts'
import classes from './transcript.module.css'

const stepsShown = 200
const itemsShown = 10

/** What happened between two turns, a line each. A tool's line opens to show what it received and returned. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  return (
    <ol className={classes.steps}>
      {Object.entries(steps.slice(0, stepsShown)).map(([place, step]) => (
        <li key={place} className={classes.step} data-failed={step.failure !== null || undefined}>
          <StepLine step={step} />
        </li>
      ))}
      {steps.length > stepsShown && <li>and {asCount(steps.length - stepsShown)} more</li>}
    </ol>
  )
}

function StepLine({ step }: { step: Step }) {
  const [isOpen, setIsOpen] = useState(false)
  const { began, answer, failure, retrieved } = step
  const details = (
    <>
      {failure !== null && !isOpen && (
        <p className={classes.failure} dir="auto">
          {failure}
        </p>
      )}
      {retrieved.length > 0 && <RetrievedItems items={retrieved} />}
    </>
  )
  if (!began?.text && !answer?.text) {
    return (
      <>
        <div className={classes.stepsLine}>
          <StepTitle step={step} />
        </div>
        {details}
      </>
    )
  }
  return (
    <>
      <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
        <summary className={classes.stepsLine}>
          <StepTitle step={step} />
          <IconChevronRight size={14} className={classes.stepsChevron} aria-hidden />
        </summary>
        {isOpen && (
          <div className={classes.stepTexts}>
            {began?.text && <StepText label={step.kind === 'tool' ? 'Received' : 'Text'} entry={began} />}
            {answer?.text && <StepText label="Returned" entry={answer} />}
          </div>
        )}
      </details>
      {details}
    </>
  )
}

function StepTitle({ step }: { step: Step }) {
  const { atSeconds, failure } = step
  const took = secondsOf(step)
  return (
    <>
      <StepIcon {...step} />
      <span className={classes.stepsTitle}>
        {stepName(step)}
        {failure !== null && ' failed'}
      </span>
      {took !== null && <span className="cb-figure">{asMilliseconds(Math.round(took * 1_000))}</span>}
      <At seconds={atSeconds} />
    </>
  )
}

function StepIcon({ kind, failure, retrieved }: Step) {
  if (failure !== null) return <IconAlertTriangleFilled size={14} aria-hidden />
  if (retrieved.length > 0) return <IconBook2 size={14} aria-hidden />
  const Icon = { tool: IconTool, transfer: IconArrowForwardUp, other: IconPoint }[kind]
  return <Icon size={14} aria-hidden />
}

/** The knowledge items in a tool's answer. */
function RetrievedItems({ items }: { items: readonly RetrievedItem[] }) {
  return (
    <p className={classes.retrieved}>
      Retrieved:{' '}
      {items.slice(0, itemsShown).map(({ id, name }, at) => (
        <span key={id}>
          {at > 0 && ', '}
          <PageLink {...to.item(id)} inherit>
            <bdi>{name ?? id}</bdi>
          </PageLink>
        </span>
      ))}
      {items.length > itemsShown && ` and ${items.length - itemsShown} more`}
    </p>
  )
}

function StepText({ label, entry }: { label: string; entry: TimelineEntry }) {
  const text = entry.text ?? ''
  const json = useMemo(() => jsonOf(text), [text])
  return (
    <section className={classes.stepText} aria-label={label}>
      <Group component="header" gap={8} className="cb-dimmed">
        {label} <At seconds={entry.atSeconds} />
        <CopyButton value={text} label={`Copy what it ${label.toLowerCase()}`} />
      </Group>
      {json === undefined ? (
        <pre className="cb-mono" dir="auto">
          {text}
        </pre>
      ) : (
        <JsonTree value={json} depth={3} />
      )}
    </section>
  )
}

/** `0:04.2` from the start of the call. */
export function At({ seconds }: { seconds: number }) {
  return (
    <span className={classes.at}>
      <span className="cb-hidden">at </span>
      {asMoment(seconds)}
    </span>
  )
}

/** Undefined for any other text. */
function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // It only looked like JSON.
    return undefined
  }
}
