import type { Call, CallDetails } from '../../../../calls/schemas.ts'
import type { FormatNumber } from '../../components/phone-number.ts'

/** The person's number: the called one if the agent calls; null if unknown. */
export function personsNumber(
  { callerNumber, calledNumber }: Pick<Call, 'callerNumber' | 'calledNumber'>,
  direction: CallDetails['direction'] | undefined,
): string | null {
  return direction === 'outbound' ? calledNumber : callerNumber
}

/** `+1 555 729 4053`, `Web call`: who it was with. */
export function callTitle(
  call: Pick<Call, 'callerNumber' | 'calledNumber'>,
  direction: CallDetails['direction'] | undefined,
  formatNumber: FormatNumber = (number) => number,
): string {
  const number = personsNumber(call, direction)
  if (number !== null) return formatNumber(number)
  return direction === 'web' ? 'Web call' : 'Unknown caller'
}
