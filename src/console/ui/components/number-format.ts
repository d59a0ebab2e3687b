import { parsePhoneNumberFromString } from 'libphonenumber-js/min'

/** What the service keeps of an international number: ITU-T E.164. */
const international = /^\+[1-9]\d{6,14}$/

/**
 * `+15555644120` as `+1 555 564 4120`, in the groups that its country writes. Spaces are all it adds, so the number can be
 * read and still be dialled; what is not an international number stays as it is.
 */
export function formatNumber(number: string): string {
  if (!international.test(number)) return number
  const formatted = parsePhoneNumberFromString(number)?.formatInternational()
  return formatted?.replace(/[^+\d]+/g, ' ') ?? number
}
