import { describe, expect, test } from 'bun:test'
import type { CountryCode } from 'libphonenumber-js/max'
import { redactionKinds } from '../../src/redaction/kinds.ts'
import { type RedactionOptions, redact as redacting } from '../../src/redaction/redact.ts'
import { finished } from '../../src/threads/time-slices.ts'
import fc from '../support/fast-check.ts'

const all = { kinds: redactionKinds, country: 'US' as CountryCode | null }

function redact(text: string, options: RedactionOptions, label?: string) {
  return finished(redacting(text, options, label))
}

function redacted(text: string, country: CountryCode | null = 'US', label?: string): string {
  return redact(text, { ...all, country }, label).text
}

describe('is replaced by its mark', () => {
  test.each([
    // As people write them.
    ['Call me at 415-555-2671, please.', 'Call me at [phone], please.'],
    ['(415) 555-2671 or 415.555.2672', '[phone] or [phone]'],
    ['It is 4155552671.', 'It is [phone].'],
    ['+44 20 7581 0103 for 2 people', '[phone] for 2 people'],
    ['+1 555 729 4053', '[phone]'],
    ['tel:+14155552671', 'tel:[phone]'],
    ['Their number is 20 7071 5029.', 'Their number is [phone].'],
    ['The code is 123456, and my cell is 555-0142.', 'The code is 123456, and my cell is [phone].'],
    ['4111 1111 1111 1111 12/26 123', '[card] 12/26 123'],
    ['Amex 3782-822463-10005', 'Amex [card]'],
    ['5555555555554444', '[card]'],
    ['john.smith+shop@mail.example.co.uk, ok', '[email], ok'],
    ['IBAN DE89 3704 0044 0532 0130 00 and', 'IBAN [iban] and'],
    ['GB82WEST12345698765432.', '[iban].'],
    ['My SSN is 123-45-6789.', 'My SSN is [ssn].'],
    ['my social is 123456789', 'my social is [ssn]'],
    ['415-555-2671,415-555-2672', '[phone],[phone]'],
    ['1,4155552671,4111111111111111,Ada', '1,[phone],[card],Ada'],
    [String.raw`{"note":"Call\n415-555-2671\nor"}`, String.raw`{"note":"Call\n[phone]\nor"}`],
    ['４１５-５５５-２６７１ ada＠example.com', '[phone] [email]'],
    ['٤١٥-٥٥٥-٢٦٧١ and ४१५५५५२६७१', '[phone] and [phone]'],
    ['415\u200b555\u200b2671, 4111\u00ad1111\u00ad1111\u00ad1111', '[phone], [card]'],
    ['415\t555\t2671, 4111\u20031111\u20031111\u20031111', '[phone], [card]'],
    // As they say them.
    ['my number is five five five one two three four', 'my number is [phone]'],
    ['Oh, four one five, five five five, two six seven one', 'Oh, [phone]'],
    ['double seven two, triple five, eighty two nineteen', '[phone]'],
    ['eight hundred, five five five, oh one four two', '[phone]'],
    ['plus four four two oh seven nine four six oh nine five eight', '[phone]'],
    ['4 1 5, 5 5 5, 2 6 7 1', '[phone]'],
    ['four one one one, one one one one, one one one one, one one one one', '[card]'],
    ['one two three, four five, six seven eight nine', '[ssn]'],
    ['my email is john dot smith at gmail dot com, thanks', 'my email is [email], thanks'],
    ['j o h n underscore doe at example.com', '[email]'],
  ])('%s', (text, expected) => expect(redacted(text)).toBe(expected))

  test.each([
    ['DE', '030 12345678'],
    ['DE', '0171 1234567'],
    ['FR', '01 53 75 62 62'],
    ['GB', '020 7946 0958'],
    ['GB', 'oh two oh, seven nine four six, oh nine five eight'],
    ['ES', '612 345 678'],
    ['IN', '98765 43210'],
    ['AU', '(02) 9374 4000'],
  ] as const)('a national number of %s: %s', (country, number) => {
    expect(redacted(`${number}!`, country)).toBe('[phone]!')
  })
})

describe('stays', () => {
  test.each([
    'Order number 4155552671, order 4532015112830366.',
    'Your confirmation code is 83920175.',
    'It costs $16,313.89, or $2,300,000.',
    '12,345,678 people, 4155552,671 in all',
    'At 1475 167th Avenue, or 1016-1098 North Center Court Street.',
    'Go to 4175, 42151 Blacow Road, 94107-1234.',
    'On 2026-01-31 at 09:30, or 31.01.2026.',
    'Flight UA 1234567 at 7:30 pm',
    'one or two people at seven thirty on the twenty third',
    'I bought it at amazon dot com. It is @ home.',
    'a card ending in 4120, 4111 1111 1111 1112',
    '123e4567-e89b-12d3-a456-426614174000',
    '1767605063000',
    '37.7749, -122.4194',
    'DE89 3704 0044 0532 0130 01',
    '900-45-6789, 123-00-6789',
    'one two three',
    '[phone], [card]',
  ])('%s', (text) => expect(redacted(text)).toBe(text))

  test('what its label says is another number', () => {
    expect(redacted('4155552671', 'US', 'orderId')).toBe('4155552671')
    expect(redacted('4155552671', 'US', 'contact_phone')).toBe('[phone]')
    const json = '{"order_id":"4155552671","phone":"4155552671"}'
    expect(redacted(json)).toBe('{"order_id":"4155552671","phone":"[phone]"}')
  })

  test('a kind that is not asked for, as no other kind either', () => {
    const text = '4111 1111 1111 1111, 123-45-6789'
    expect(redact(text, { kinds: ['phone'], country: 'US' })).toEqual({ text, counts: {} })
  })
})

test('what was replaced is counted, a mark that somebody sent is not', () => {
  const { counts } = redact('415-555-2671, 415-555-2672, a@b.example, [card]', all)
  expect(counts).toEqual({ phone: 2, email: 1 })
})

const piece = fc.oneof(
  fc.constantFrom(
    '415-555-2671',
    '+44 20 7581 0103',
    '4111 1111 1111 1111',
    'a.b@example.com',
    '123-45-6789',
  ),
  fc.constantFrom('five five five', 'double seven', 'one two three four', 'oh', 'call', 'number is', 'order'),
  fc.constantFrom(
    '[phone]',
    '[card]',
    'DE89 3704 0044 0532 0130 00',
    ' at gmail dot com',
    '(',
    ')',
    '+',
    '-',
    ', ',
  ),
  fc.integer({ min: 0, max: 99_999_999 }).map(String),
  fc.string({ maxLength: 5 }),
)

test('the same text twice changes nothing, whatever it is', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom('US', 'DE', null), (pieces, country) => {
      const once = redact(pieces.join(' '), { ...all, country })
      expect(redact(once.text, { ...all, country })).toEqual({ text: once.text, counts: {} })
    }),
    { numRuns: 1_000 },
  )
})
