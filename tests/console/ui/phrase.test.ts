import { expect, test } from 'bun:test'
import { asPhrase } from '../../../src/console/ui/components/phrase.ts'

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
