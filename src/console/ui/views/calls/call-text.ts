import type { CallNumbers } from '../../../../calls/keeping/shown-numbers.ts'
import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import { asDuration, asMoment } from '../../components/figures.ts'
import { linesOf } from './conversation.ts'
import { stepNames } from './step.ts'

type Direction = CallDetails['direction'] | undefined

/** The person's number: the called one if the agent calls; null if unknown. */
export function personsNumber(
  { callerNumber, calledNumber }: CallNumbers,
  direction: Direction,
): string | null {
  return direction === 'outbound' ? calledNumber : callerNumber
}

/** `+1 555 729 4053`, `Web call`: who it was with. */
export function callTitle(numbers: CallNumbers, direction: Direction): string {
  return personsNumber(numbers, direction) ?? (direction === 'web' ? 'Web call' : 'Unknown caller')
}

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
