import { expect, test } from 'bun:test'
import { formatNumber } from '../../../src/console/ui/components/phone-number.ts'
import { asPhrase } from '../../../src/console/ui/components/phrase.ts'

test.each([
  ['+15555644120', '+1 555 564 4120'],
  ['+442079460958', '+44 2079 460958'],
  ['+33142685300', '+33 1 42 68 53 00'],
  ['+4930901820', '+49 309 018 20'],
  ['+353861234567', '+353 86 123 4567'],
  ['+35315551234', '+353 155 512 34'],
  ['+37069912345', '+370 699 123 45'],
  ['+911234567890', '+91 12345 67890'],
  ['+2901234', '+290 1234'],
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
