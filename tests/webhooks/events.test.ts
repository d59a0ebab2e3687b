import { expect, test } from 'bun:test'
import { typeErrors } from '../support/type-errors.ts'

const places = [
  'src/webhooks/replay.ts',
  'src/webhooks/docs.ts',
  'src/console/ui/views/settings/webhook-queries.ts',
]
const withEvent = (events: string) => events.replace("'erasure.done',", "'erasure.done', 'call.made_up',")

test.each(places)('an event that %s forgets is a type error', (place) => {
  const errors = typeErrors(place, 'src/webhooks/events.ts', withEvent)
  expect(errors).toEqual([expect.stringContaining(`Property '"call.made_up"' is missing`)])
})
