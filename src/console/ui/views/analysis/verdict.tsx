import { IconCheck, IconQuestionMark, IconX } from '@tabler/icons-react'
import type { Verdict as Result } from '../../../../analysis/schemas.ts'
import { StatusBadge } from '../../components/status-badge.tsx'
import { verdictWords } from '../calls/filter-labels.ts'

/** The answer to a criterion, as an icon and a word. */
export function Verdict({ result }: { result: Result }) {
  if (result === 'pass')
    return (
      <StatusBadge tone="success" icon={<IconCheck size={12} stroke={2.5} />}>
        {verdictWords.pass}
      </StatusBadge>
    )
  if (result === 'fail')
    return (
      <StatusBadge tone="danger" icon={<IconX size={12} stroke={2.5} />}>
        {verdictWords.fail}
      </StatusBadge>
    )
  return (
    <StatusBadge tone="neutral" icon={<IconQuestionMark size={12} stroke={2.5} />}>
      {verdictWords.unknown}
    </StatusBadge>
  )
}
