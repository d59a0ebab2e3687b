import { composeIBAN } from 'ibantools'
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { RedactionKind } from '../../../src/redaction/kinds.ts'
import sets from './forms.json' with { type: 'json' }

/** A value of a kind, or a decoy, which is none. */
export type PlantedKind = RedactionKind | 'decoy'
type Random = () => number

/**
 * Forms in which people write or say a value, and sentences with `{}` in place of one. In a form, `#` is the next
 * character of the value, `{number/-}` all of it in groups and `{each/-}` one by one, and `[oh: …]` is said in words.
 * The rules were made with the first set. Each other set was written before it was first measured, to test unforeseen
 * forms. The rules were then improved with it, except with the last.
 */
export interface FormSet {
  name: string
  atFirst: { recall: number; precision: number } | null
  values: Record<PlantedKind, string[]>
  sentences: Record<PlantedKind, string[]>
}

export const formSets: readonly FormSet[] = sets

/** A value of the kind in one of its forms. */
export function plantedValue({ values }: FormSet, kind: PlantedKind, random: Random): string {
  const value = makers[kind](random)
  let at = 0
  const next = () => (value === '' ? digits(random, 1) : (value[at++] ?? ''))
  const first = pick(random, [
    'john',
    'maria',
    'wei',
    'fatima',
    'lucas',
    'olga',
    'ben',
    'aisha',
    'tom',
    'zoe',
  ])
  const parts: Record<string, (gap: string) => string> = {
    number: (gap) => (gap === '' ? value : groupsOf(value).join(gap)),
    each: (gap) => [...value].join(gap),
    rest: () => value.slice(at),
    hash: () => '#',
    first: () => first,
    initial: () => first.charAt(0),
    spelt: () => [...first].join(' '),
    last: () =>
      pick(random, ['smith', 'garcia', 'chen', 'khan', 'silva', 'ivanova', 'cooper', 'okafor', 'meyer']),
    domain: () => pick(random, ['gmail', 'yahoo', 'outlook', 'example', 'acme', 'brightline']),
    abroad: () => numberAbroad(random),
  }
  return pick(random, values[kind])
    .replace(/#|\{(\w+)(?:\/([^}]*))?\}/g, (_, name?: string, gap = '') =>
      name === undefined ? next() : (parts[name]?.(gap) ?? ''),
    )
    .replace(/\[(\w+): ([^\]]*)\]/g, (_, way: string, text: string) => ways[way]?.(text) ?? '')
}

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value
}

/** The characters of a value; none where any digits will do. */
const makers: Record<PlantedKind, (random: Random) => string> = {
  phone: americanNumber,
  card: cardNumber,
  iban: ibanOf,
  ssn: (random) =>
    `${1 + Math.floor(random() * 5)}${digits(random, 2)}4${digits(random, 1)}7${digits(random, 3)}`,
  email: () => '',
  decoy: () => '',
}

const ones = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const teens = [
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
]
const tens = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']

/** What `[way: text]` makes of a text. */
const ways: Record<string, (text: string) => string> = {
  /** One word per digit: `four one five`. */
  zero: (text) => inWords(text),
  oh: (text) => inWords(text, 'oh'),
  hyphens: (text) => inWords(text, 'oh', '-'),
  Zero: (text) => inWords(text).replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
  /** Two digits per word where people say so: `forty one twelve`, `oh five`. */
  pairs: (text) => spoken(text, /\d\d?/g, inPair),
  /** With `double` for a repeated digit. */
  doubles: (text) =>
    spoken(text, /(\d)\1|\d/g, (part) =>
      part.length > 1 ? `double ${inWords(part.charAt(0))}` : inWords(part),
    ),
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  double0: (text) => text.replace('+', '00'),
  tight: (text) => text.replaceAll(' ', ''),
  dashed: (text) => text.replaceAll(' ', '-'),
  dotted: (text) => text.replaceAll(' ', '.'),
}

function inWords(text: string, zero = 'zero', gap = ' '): string {
  return text.replace(/\d+/g, (run) =>
    [...run].map((digit) => (digit === '0' ? zero : ones[Number(digit)])).join(gap),
  )
}

function spoken(text: string, parts: RegExp, say: (part: string) => string): string {
  return (text.match(parts) ?? []).map(say).join(' ')
}

function inPair(pair: string): string {
  const value = Number(pair)
  if (pair.length === 1 || value < 10) return inWords(pair, 'oh')
  if (value < 20) return teens[value - 10] ?? ''
  return [tens[Math.floor(value / 10) - 2], ...(value % 10 > 0 ? [ones[value % 10]] : [])].join(' ')
}

/** Groups of four; 4, 6 and 5 of a card with 15 digits. */
function groupsOf(value: string): string[] {
  return value.length === 15
    ? [value.slice(0, 4), value.slice(4, 10), value.slice(10)]
    : (value.match(/.{1,4}/g) ?? [])
}

function digits(random: Random, count: number): string {
  return Array.from({ length: count }, () => Math.floor(random() * 10)).join('')
}

/** Ten digits of an assignable number. */
function americanNumber(random: Random): string {
  for (;;) {
    const number = `${2 + Math.floor(random() * 8)}${digits(random, 2)}${2 + Math.floor(random() * 8)}${digits(random, 6)}`
    if (parsePhoneNumberFromString(number, 'US')?.isValid()) return number
  }
}

const countries: [country: CountryCode, start: string, more: number][] = [
  ['GB', '7', 9],
  ['DE', '151', 8],
  ['FR', '6', 8],
  ['ES', '6', 8],
  ['IN', '98', 8],
  ['AU', '4', 8],
  ['MX', '55', 8],
  ['BR', '119', 8],
  ['JP', '90', 8],
]

/** A number of another country in international form. */
function numberAbroad(random: Random): string {
  for (;;) {
    const [country, start, more] = pick(random, countries)
    const number = parsePhoneNumberFromString(start + digits(random, more), country)
    if (number?.isValid()) return number.formatInternational()
  }
}

/** A card number of a known issuer, with its check digit. */
function cardNumber(random: Random): string {
  const start = pick(random, ['4', '53', '37', '6011', '2345'])
  const body = start + digits(random, (start === '37' ? 15 : 16) - start.length - 1)
  const sum = [...body].reverse().reduce((total, char, place) => {
    const doubled = Number(char) * (place % 2 === 0 ? 2 : 1)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return body + ((10 - (sum % 10)) % 10)
}

function ibanOf(random: Random): string {
  const [countryCode, letters, more] = pick(random, [
    ['DE', '', 18],
    ['AT', '', 16],
    ['GB', 'NWBK', 14],
    ['CH', '', 17],
    ['IE', 'AIBK', 14],
  ] as const)
  return composeIBAN({ countryCode, bban: letters + digits(random, more) }) ?? ''
}
