import { IconCheck, IconQuestionMark, IconX } from '@tabler/icons-react'
import type { Analysis, Verdict as Result } from '../../../../analysis/schemas.ts'
import { StatusBadge } from '../../components/status-badge.tsx'
import { verdictWords } from '../calls/filter-labels.ts'

const verdictBadges = {
  pass: { tone: 'success', icon: IconCheck },
  fail: { tone: 'danger', icon: IconX },
  unknown: { tone: 'neutral', icon: IconQuestionMark },
} as const

/** The answer to a criterion, as an icon and a word. */
export function Verdict({ result }: { result: Result }) {
  return <StatusBadge {...verdictBadges[result]} label={verdictWords[result]} />
}

const skips: Record<string, string> = {
  when: 'The rubric does not ask about calls like this one.',
  share: 'The rubric asks about a share of the calls, and this is not one of them.',
  'no transcript': 'The call has no transcript.',
  budget: 'It takes more tokens than the budget of the month has.',
  'too long': 'The transcript is longer than the model can read at once.',
}

const pauses: Record<string, string> = {
  credentials: 'The model’s server refuses our token.',
  model: 'The model’s server does not know the model.',
  unreachable: 'The model’s server does not answer.',
  budget: 'This month’s budget is used up.',
}

/** Why there are no answers yet, or not the newest ones, in words; null where there are. */
export function stateWords({ state, reason }: Pick<Analysis, 'state' | 'reason'>): string | null {
  const said = reason ?? ''
  switch (state) {
    case 'done':
      return null
    case 'none':
      return 'Not analyzed.'
    case 'queued':
      return 'Waiting to be analyzed.'
    case 'running':
      return 'Being analyzed right now.'
    case 'paused':
      return `Waiting, since the analysis is paused. ${pauses[said] ?? ''}`.trim()
    case 'skipped':
      return `Not analyzed. ${skips[said] ?? said}`.trim()
    case 'failed':
      return said === 'context too small'
        ? 'The analysis failed: the model’s server read only a part of the transcript. It needs a larger context.'
        : `The analysis failed: ${said || 'no reason is known'}.`
    default:
      return state satisfies never
  }
}

/** A value that was read out of a call. */
export function valueWords(value: string | number | boolean | null): string {
  if (value === null) return 'Not said'
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return String(value)
}

/** The name of a person whom the service names with their email address. */
export function personOf(label: string): string {
  return label.replace(/ \([^()]*\)$/, '')
}
