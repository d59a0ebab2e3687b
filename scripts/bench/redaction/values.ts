import { composeIBAN } from 'ibantools'
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'

export type Random = () => number

const numeralWords = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
const teenWords = [
  ...['ten', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen'],
  'nineteen',
]
const tensWords = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']
const abroad: [CountryCode, string, number][] = [
  ...([
    ['GB', '7', 9],
    ['DE', '151', 8],
    ['FR', '6', 8],
    ['ES', '6', 8],
    ['IN', '98', 8],
  ] as [CountryCode, string, number][]),
  ...([
    ['AU', '4', 8],
    ['MX', '55', 8],
    ['BR', '119', 8],
    ['JP', '90', 8],
  ] as [CountryCode, string, number][]),
]

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value
}

export function digits(random: Random, count: number): string {
  return Array.from({ length: count }, () => Math.floor(random() * 10)).join('')
}

/** Ten digits of an assignable American number. */
export function americanNumber(random: Random): string {
  for (;;) {
    const number = `${2 + Math.floor(random() * 8)}${digits(random, 2)}${2 + Math.floor(random() * 8)}${digits(random, 6)}`
    if (parsePhoneNumberFromString(number, 'US')?.isValid()) return number
  }
}

/** A number of another country in international form. */
export function foreignNumber(random: Random): string {
  for (;;) {
    const [country, start, more] = pick(random, abroad)
    const number = parsePhoneNumberFromString(start + digits(random, more), country)
    if (number?.isValid()) return number.formatInternational()
  }
}

/** A card number of a known issuer, with its check digit. */
export function cardNumber(random: Random): string {
  const [start, length] = pick(random, [
    ['4', 16],
    ['53', 16],
    ['37', 15],
    ['6011', 16],
    ['2345', 16],
  ] as const)
  const body = start + digits(random, length - start.length - 1)
  const sum = [...body].reverse().reduce((total, char, place) => {
    const doubled = Number(char) * (place % 2 === 0 ? 2 : 1)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return body + ((10 - (sum % 10)) % 10)
}

export function socialSecurityNumber(random: Random): string {
  return `${String(100 + Math.floor(random() * 500))}${String(10 + Math.floor(random() * 89))}${String(1_000 + Math.floor(random() * 8_999))}`
}

export function iban(random: Random): string {
  const letters = Array.from({ length: 4 }, () => pick(random, [...'ABCDEFGHKLMNPRSTW'])).join('')
  const [countryCode, bban] = pick(random, [
    ['DE', digits(random, 18)],
    ['AT', digits(random, 16)],
    ['GB', letters + digits(random, 14)],
    ['CH', digits(random, 17)],
    ['IE', letters + digits(random, 14)],
  ] as const)
  return composeIBAN({ countryCode, bban }) ?? ''
}

export function inGroups(text: string, sizes: readonly number[], gap: string): string {
  let at = 0
  const groups = sizes.map((size) => {
    at += size
    return text.slice(at - size, at)
  })
  return groups.filter((group) => group !== '').join(gap)
}

/** One word per digit: `four one five`. */
export function inWords(text: string, gap = ' ', zero = 'zero'): string {
  return [...text].map((char) => (char === '0' ? zero : numeralWords[Number(char)])).join(gap)
}

/** Two digits per word where people say so: `forty one twelve`, `oh five`. */
export function inPairs(text: string): string {
  const pairs = text.match(/\d\d?/g) ?? []
  return pairs
    .map((pair) => {
      const value = Number(pair)
      if (pair.length === 1 || value < 10) return inWords(pair, ' ', 'oh')
      if (value < 20) return teenWords[value - 10]
      return `${tensWords[Math.floor(value / 10) - 2]}${value % 10 > 0 ? ` ${numeralWords[value % 10]}` : ''}`
    })
    .join(' ')
}

/** With `double` for a repeated digit. */
export function inDoubles(text: string): string {
  return (text.match(/(\d)\1|\d/g) ?? [])
    .map((part) => (part.length === 2 ? `double ${inWords(part.charAt(0))}` : inWords(part)))
    .join(' ')
}
