import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { asDuration, asMoment } from '../../components/figures.ts'
import { callTitle } from './call-title.ts'
import { linesOf } from './conversation.ts'
import { stepNames } from './step.ts'

/** The call as text to paste: who, when, and each turn with its time where that is known. */
export function callText(call: Call, details: CallDetails | undefined): string {
  const { transcript, createdAt, duration, id, summary } = call
  const head = [
    `${callTitle(call, details?.direction)}, ${createdAt}, ${asDuration(duration)}`,
    `Call ${id}`,
    ...(summary ? ['', summary] : []),
  ]
  const lines = linesOf(transcript, details?.timeline ?? []).flatMap((line) => {
    if (!('turn' in line)) {
      return [`[${stepNames(line.steps).join(', ')}]`]
    }
    const speaker = line.turn.role === 'user' ? 'Caller' : 'Agent'
    const at = line.atSeconds === null ? '' : ` (${asMoment(line.atSeconds)})`
    return [`${speaker}${at}: ${line.turn.content}`]
  })
  return [...head, '', ...lines, ''].join('\n')
}
