import { expect, test } from 'bun:test'
import { formatNumber } from '../../../src/console/ui/components/number-format.ts'
import { asPhrase } from '../../../src/console/ui/components/phrase.ts'

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

test.each([
  ['customer-ended-call', 'Customer ended call'],
  ['user_hangup', 'User hangup'],
  ['call.in-progress.error-SIP-outbound', 'Call in progress error SIP outbound'],
  ['silenceTimedOut', 'Silence timed out'],
  ['The caller hung up', 'The caller hung up'],
  ['-', '-'],
  ['A-', 'A-'],
  ['7.5', '7.5'],
])('the reason %s reads as %s', (reason, read) => {
  expect(asPhrase(reason)).toBe(read)
})
