import { type CountryCode, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** Consecutive groups of a run that may be one number. */
export interface NumberSpan {
  text: string
  digits: string
  /** The lengths of its chunks: see `chunksOf`. */
  chunks: readonly number[]
  isSpoken: boolean
  /** Whether it starts and ends where chunks do. */
  isWhole: boolean
  /** Whether hyphens or full stops separate its groups. */
  isDashed: boolean
  /** Whether it ends with the last group of its run. */
  isLast: boolean
  /** The text that follows. */
  after: string
}

/** What people say in a sentence before a phone number. */
const phoneWords =
  /\b(?:(?:tele)?phone|tel|mobile|cell|cellphone|fax|landline|whats ?app|sms|text|dial|ring|reach|contact|call|hotline|numbers?)(?:ed|ing|s|er|back)?\b[^.?!]*$/i
const phoneNumber = /\b(?:phone|telephone|mobile|cell|callback|contact) (?:number|no\b|#)[^.?!]*$/i
/** A number of something else: `order number is`, `confirmation code:`, `account #`. */
const otherNumber =
  /(?:\b(?:order|confirmation|tracking|reference|ref|accounts?|acct|invoice|tickets?|booking|reservation|case|policy|member(?:ship)?|ids?|(?<!area )codes?|zip|postal|flight|serial|model|part|sku|item|product|passport|licen[cs]e|vin|pin|routing|cards?|claim|session|loyalty|transaction|record|amount|price|total|balance|costs?|timestamp|version|epoch|date|bytes|size|population|isbn|imei|iban|social|ssn|security|tax|vat|patient|student|employee|badge|customer|purchase|receipt|parcel|shipment|package|bill|quote|contract|lot|batch|unit|room|apartment|suite|meter|registration|plate)\b(?:[\s:=#"'_,-]|\b(?:number|num|no|id|code|is|was|are|be|its|it's|will|would|of|ends?|ending|in|the|and|that's|that|your|my)\b)*|[#$€£¥]\s?)$/i
const amountAfter =
  /^\s?(?:%|(?:dollars?|euros?|pounds?|percent|cents|miles|km|kilomet|meters|people|bytes|ms|seconds|usd|eur|gbp)\b)/i
const spanMin = 7
const spanMax = 15

/** Whether digits after a plus sign are a phone number of any country. */
export function isPhoneAbroad(digits: string): 'valid' | 'possible' | null {
  if (digits.length < spanMin || digits.length > spanMax) return null
  const number = parsePhoneNumberFromString(`+${digits}`)
  if (!number?.isPossible()) return null
  return number.isValid() ? 'valid' : 'possible'
}

/**
 * Returns a test for national phone numbers: by form, by the country's numbering plan, or by what people say before them.
 * @param before the text before the digits
 */
export function phoneTest(before: string, country: CountryCode | null): (span: NumberSpan) => boolean {
  if (otherNumber.test(before) && !phoneNumber.test(before)) return () => false
  const isSaid = phoneWords.test(before)
  return (span) => {
    const { digits, after, isLast } = span
    if (digits.length < spanMin || digits.length > spanMax || amountAfter.test(after) || isDate(span))
      return false
    if (isAmerican(country) && isNanp(span, isSaid)) return true
    if (country && isNational(span, country, isSaid)) return true
    return isSaid && isLast && !isFraction(span) && !/\d, \d{3}/.test(span.text)
  }
}

/** Whether national numbers may be American. Without a country they may, if they are written that way. */
function isAmerican(country: CountryCode | null): boolean {
  return country === null || getCountryCallingCode(country) === '1'
}

/** Whether the form is that of the North American Numbering Plan, even if the number is unassigned, such as 555-0142. */
function isNanp({ digits, chunks, isSpoken, isWhole, isDashed }: NumberSpan, isSaid: boolean): boolean {
  const shape = chunks.join('-')
  if (/^[2-9]\d{6}$/.test(digits)) return (isSpoken && isWhole) || (shape === '3-4' && (isDashed || isSaid))
  if (!/^1?[2-9]\d{9}$/.test(digits)) return false
  return isSpoken || isSaid || /3-3-4$|3-7$/.test(shape) || isValidIn(digits, 'US')
}

/** A valid national number. Unless the text says that it is one, it must be a mobile number or be written in full. */
function isNational({ digits, chunks }: NumberSpan, country: CountryCode, isSaid: boolean): boolean {
  // Parsing is slow, and `isNanp` has judged these by their form.
  if (isAmerican(country) && !digits.startsWith('011')) return false
  const number = parsePhoneNumberFromString(digits, country)
  if (!number?.isValid()) return false
  const isInFull = /^0(?:0|11)/.test(digits) || number.formatNational().replace(/\D/g, '') === digits
  const isMobile = number.getType() === 'MOBILE' && digits.length >= 9
  return isSaid || isMobile || (isInFull && (digits.length >= 9 || chunks.length > 1))
}

function isValidIn(digits: string, country: CountryCode): boolean {
  return parsePhoneNumberFromString(digits, country)?.isValid() ?? false
}

/** A date: `2026-01-31`, `31.01.2026`, `20260131`. */
function isDate({ digits, chunks }: NumberSpan): boolean {
  const shape = chunks.join('-')
  if (/^(?:8|4-\d-\d)$/.test(shape))
    return /^(?:19|20)\d\d(?:0?[1-9]|1[0-2])(?:0?[1-9]|[12]\d|3[01])$/.test(digits)
  return /^[12]-[12]-4$/.test(shape) && /(?:19|20)\d\d$/.test(digits)
}

/** Whether this is a fraction, such as `37.7749`. */
function isFraction({ chunks, text }: NumberSpan): boolean {
  return chunks.length === 2 && /^\d+\.\d+$/.test(text)
}
