import { IconArrowForwardUp, IconChevronRight, IconPoint, IconTool } from '@tabler/icons-react'
import { useState } from 'react'
import type { TimelineEntry } from '../../../../calls/schemas.ts'
import { asDuration } from '../../components/figures.ts'

const stepsShown = 200
const namesShown = 3

/** What happened between two turns: named on one line, which opens to what tools were given and answered. */
export function Steps({ steps }: { steps: readonly TimelineEntry[] }) {
  const [isOpen, setIsOpen] = useState(false)
  if (!steps.some(({ text }) => text)) {
    return (
      <div className="cb-steps cb-steps-line">
        <StepsTitle steps={steps} />
      </div>
    )
  }
  return (
    <details className="cb-steps" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className="cb-steps-line">
        <StepsTitle steps={steps} />
        <IconChevronRight size={14} className="cb-steps-chevron" aria-hidden />
      </summary>
      {isOpen && (
        <ol className="cb-steps-list">
          {Object.entries(steps.slice(0, stepsShown)).map(([place, step]) => (
            <Step key={place} step={step} />
          ))}
          {steps.length > stepsShown && (
            <li className="cb-dimmed">and {(steps.length - stepsShown).toLocaleString()} more</li>
          )}
        </ol>
      )}
    </details>
  )
}

function StepsTitle({ steps }: { steps: readonly TimelineEntry[] }) {
  const titles = titlesOf(steps)
  const rest = titles.length - namesShown
  const hasTransfer = steps.some(({ kind }) => kind === 'transfer')
  const hasTool = steps.some(({ kind }) => kind === 'tool_call' || kind === 'tool_result')
  const Icon = hasTransfer ? IconArrowForwardUp : hasTool ? IconTool : IconPoint
  return (
    <>
      <Icon size={14} aria-hidden />
      <span className="cb-steps-title">
        {titles.slice(0, namesShown).join(', ')}
        {rest > 0 && ` and ${rest.toLocaleString()} more`}
      </span>
      {steps[0] && <At seconds={steps[0].atSeconds} />}
    </>
  )
}

/** Each tool, transfer and other event once; an answer is that of its call. */
function titlesOf(steps: readonly TimelineEntry[]): string[] {
  const titles = steps.map(({ kind, name }) => {
    if (kind === 'transfer') return name ? `Transferred to ${name}` : 'Transferred'
    return name ?? (kind === 'other' ? 'Event' : 'Tool')
  })
  return [...new Set(titles)]
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
    <li className="cb-step">
      <span className="cb-step-head">
        {name && <span className="cb-mono">{name}</span>}
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
    <span className="cb-at">
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
