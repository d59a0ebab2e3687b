import type { TimelineEntry } from '../../../../calls/schemas.ts'
import { type RetrievedItem, retrievedIn } from './retrieved.ts'
import { failureIn } from './tool-failure.ts'

/** What happened between two turns: a tool's call with its answer, a transfer, or something else. */
export interface Step {
  kind: 'tool' | 'transfer' | 'other'
  name: string | null
  atSeconds: number
  /** What began it, and the tool's answer: at least one of them. */
  began: TimelineEntry | null
  answer: TimelineEntry | null
  /** Why the tool failed, as its answer says; null if it did not. */
  failure: string | null
  /** The knowledge items in the answer. */
  retrieved: RetrievedItem[]
}

/** Pairs each tool's call with the next answer of its name. @param entries in order of time, without turns */
export function stepsOf(entries: readonly TimelineEntry[]): Step[] {
  const steps: Step[] = []
  const unanswered = new Map<string | null, Step[]>()
  for (const entry of entries) {
    const name = entry.name ?? null
    if (entry.kind === 'tool_result') {
      const asked = unanswered.get(name)?.shift()
      const step = asked ?? begun(null, entry)
      step.answer = entry
      step.failure = failureIn(entry.text ?? '')
      step.retrieved = retrievedIn(entry.text ?? '')
      if (!asked) steps.push(step)
      continue
    }
    const step = begun(entry, entry)
    steps.push(step)
    if (entry.kind !== 'tool_call') continue
    const waiting = unanswered.get(name)
    if (waiting) waiting.push(step)
    else unanswered.set(name, [step])
  }
  return steps
}

/** How long a tool took; null where it is not known. */
export function secondsOf({ began, answer }: Step): number | null {
  return began && answer ? answer.atSeconds - began.atSeconds : null
}

/** The names of steps, each once. */
export function stepNames(steps: readonly Step[]): string[] {
  return [...new Set(steps.map(stepName))]
}

export function stepName({ kind, name }: Step): string {
  if (kind === 'transfer') return name ? `Transferred to ${name}` : 'Transferred'
  return name ?? (kind === 'other' ? 'Event' : 'Tool')
}

function begun(began: TimelineEntry | null, { kind, name, atSeconds }: TimelineEntry): Step {
  const isTool = kind === 'tool_call' || kind === 'tool_result'
  return {
    kind: isTool ? 'tool' : kind === 'transfer' ? 'transfer' : 'other',
    name: name ?? null,
    atSeconds,
    began,
    answer: null,
    failure: null,
    retrieved: [],
  }
}
