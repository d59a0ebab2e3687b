import { expect, test } from 'bun:test'
import { formatNumber, numberMatcher } from '../../../src/calls/keeping/phone-number.ts'

const same: Record<string, [country: string | null, asked: string, stored: string[]]> = {
  'with and without punctuation': [
    null,
    '+1 (555) 729-4053',
    ['+15557294053', '+1-555-729-4053', '+1\u00a0555 729 40 53'],
  ],
  'international forms without a country': [
    null,
    '+49 30 123456',
    ['4930123456', '00 49 30 123456', '+49 (0)30 123456'],
  ],
  'national forms of the United States': [
    'US',
    '+15557294053',
    ['(555) 729-4053', '15557294053', '011 1 555 729 4053'],
  ],
  'national forms of Germany': [
    'DE',
    '030 123456',
    ['+4930123456', '0049 30 123456', '(030) 12 34 56', 'tel:+49-30-123456'],
  ],
  'with two digits behind a space that does not break': [
    'FR',
    '01 23 45 67 89',
    ['+33\u00a01\u00a023\u00a045\u00a067\u00a089', '+33\u20111\u201123\u201145\u201167\u201189'],
  ],
  'with 00 in a country that dials something else for abroad': [
    'US',
    '+33 1 23 45 67 89',
    ['0033 1 23 45 67 89', '011 33 1 23 45 67 89'],
  ],
  'with the prefix of a messenger': ['DE', '+4930123456', ['whatsapp:+4930123456']],
  'a mobile number of Argentina as it is dialled there': ['AR', '+5491123456789', ['011 15-2345-6789']],
  'an extension': ['US', '+1 555 729 4053 ext. 12', ['+15557294053x12']],
  'a short code': ['US', '40404', ['40404', '404-04']],
}
const other: typeof same = {
  'a part of the number, or a longer one': [
    null,
    '+15557294053',
    ['+1555729405', '+155572940530', '5557294053', '7294053'],
  ],
  'a number of another country that ends alike': [
    'DE',
    '+4930123456',
    ['+330123456', '+14930123456', '+43 30 123456'],
  ],
  'the same digits that mean another number there': ['DE', '+15550100123', ['15550100123']],
  'another extension, or none': ['US', '+15557294053', ['+15557294053 x12']],
  'what only holds the number': [
    'US',
    '+15557294053',
    ['call +15557294053', '+15557294053, +15557294054', 'x'],
  ],
  'a longer short code': ['US', '40404', ['140404', '404040']],
}

for (const [what, [country, asked, stored]] of Object.entries(same))
  test(`${what}: the same number`, () => {
    const matcher = numberMatcher(asked, country)
    for (const text of stored) {
      expect([text, matcher?.matches(text)]).toEqual([text, true])
      // The index is asked for texts that end so.
      expect(text.replace(/[ +\-()./]/g, '')).toEndWith(matcher?.tail ?? 'none')
    }
  })

for (const [what, [country, asked, stored]] of Object.entries(other))
  test(`${what}: not the same number`, () => {
    const matcher = numberMatcher(asked, country)
    expect(stored.filter((text) => matcher?.matches(text))).toEqual([])
  })

test('a text without a digit is no number, nor are the last digits of one', () => {
  expect(numberMatcher('anonymous', 'US')).toBeNull()
  expect(numberMatcher('…4120', 'US')).toBeNull()
})

test.each([
  ['+15555644120', '+1 555 564 4120'],
  ['+442079460958', '+44 20 7946 0958'],
  ['+33142685300', '+33 1 42 68 53 00'],
  ['+493055501234', '+49 30 55501234'],
  ['+4915112345678', '+49 1511 2345678'],
  ['+81312345678', '+81 3 1234 5678'],
  ['+971501234567', '+971 50 123 4567'],
  ['+353861234567', '+353 86 123 4567'],
  ['+9991234567', '+9991234567'],
  ['sip:desk@example.com', 'sip:desk@example.com'],
  ['anonymous', 'anonymous'],
  ['…4120', '…4120'],
  ['5555644120', '5555644120'],
])('%s reads as %s', (number, read) => {
  expect(formatNumber(number)).toBe(read)
  expect(formatNumber(number).replaceAll(' ', '')).toBe(number)
})
