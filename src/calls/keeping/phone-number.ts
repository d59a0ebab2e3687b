import {
  getCountryCallingCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import { digitsOf } from '../finding/number-words.ts'

/** How many last digits an index is searched for. No separator splits these: groups have at least two digits. */
const tailCharsMax = 2
/** The first character of a number of which only the last digits are stored. */
const cut = '…'
/** Only texts that end with these digits are parsed, which takes 50 us. */
const endDigitsMax = 7
/** What the service keeps of an international number: ITU-T E.164. */
const e164 = /^\+[1-9]\d{6,14}$/

/** A phone number that other texts are compared with. */
export interface NumberMatcher {
  /** The number itself, the same however it was written. */
  text: string
  /** The end of every text that means this number, in the form of the columns of digits. */
  tail: string
  /** Whether the text means this number: the whole of it, never a part. */
  matches(text: string): boolean
}

/**
 * Compares numbers as numbers: `+49 30 123456`, `0049 30 123456` and, in Germany, `(030) 123456` are one. A text that is
 * no phone number, such as a short code, means itself.
 * @param country how national numbers read, such as `DE`; without one, a number without `+` begins with its country code
 * @returns null for a text without a digit, and for the last digits of a number, which many people share
 */
export function numberMatcher(text: string, country: string | null): NumberMatcher | null {
  if (!/\d/.test(text) || text.includes(cut)) return null
  const phone = parse(text, country)
  if (!phone) {
    const digits = digitsOf(text)
    return { text: digits, tail: digits.slice(-tailCharsMax), matches: (other) => digitsOf(other) === digits }
  }
  const { nationalNumber, number, ext = '' } = phone
  const end = `${nationalNumber}${ext}`.slice(-endDigitsMax)
  return {
    text: ext ? `${number} ext. ${ext}` : number,
    tail: (ext || nationalNumber).slice(-tailCharsMax),
    matches: (other) => {
      // A fast check first: many holds are compared with many calls.
      const last = other.at(-1) ?? ''
      if (last >= '0' && last <= '9' && last !== end.at(-1)) return false
      if (!other.replace(/\D/g, '').endsWith(end)) return false
      const otherPhone = parse(other, country)
      return otherPhone?.number === number && (otherPhone.ext ?? '') === ext
    },
  }
}

/**
 * `+15555644120` as `+1 555 564 4120`, in the groups that its country writes. Spaces are all it adds, so the number can be
 * read and still be dialled; what is not an international number stays as it is.
 */
export function formatNumber(number: string): string {
  if (!e164.test(number)) return number
  const formatted = parsePhoneNumberFromString(number)?.formatInternational()
  return formatted?.replace(/[^+\d]+/g, ' ') ?? number
}

/** `49` for `DE`; undefined for a country that is unknown. */
export function callingCodeOf(country: string): string | undefined {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined
}

function parse(text: string, country: string | null): PhoneNumber | undefined {
  // Removes prefixes such as `tel:` and `whatsapp:`.
  const plain = text.replace(/^[a-z]+:/i, '').trim()
  if (country !== null && isSupportedCountry(country)) {
    const national = parsePhoneNumberFromString(plain, { defaultCountry: country, extract: false })
    // `00` is a common prefix of international numbers, even in countries that dial another one.
    if (national?.isPossible() || !plain.startsWith('00')) return national
  }
  const international = plain.startsWith('+') ? plain : `+${plain.replace(/^00/, '')}`
  return parsePhoneNumberFromString(international, { extract: false })
}
