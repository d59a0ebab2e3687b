import type { CallNumbers } from '../../../../calls/keeping/shown-numbers.ts'
import type { CallDetails } from '../../../../calls/schemas.ts'

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
