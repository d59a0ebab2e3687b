import { expect, test } from 'bun:test'
import { Rounds } from '../../src/db/rounds.ts'
import { until } from '../support/until.ts'

test('what is asked for while a round ends is done by another', async () => {
  let rounds = 0
  let endRound: (hasMore: boolean) => void = () => undefined
  const work = () => {
    rounds++
    return new Promise<boolean>((resolve) => {
      endRound = resolve
    })
  }
  const onFailure = (error: unknown) => {
    throw error
  }
  const subject = new Rounds({ work, delayMs: 1, retryMs: 1, onFailure })
  subject.schedule()
  await until(() => rounds === 1)
  // The round has seen that nothing more is to be done, and is about to say so.
  subject.schedule()
  endRound(false)
  await until(() => rounds === 2)
  endRound(false)
  await Bun.sleep(50)
  expect(rounds).toBe(2)
  await subject.close()
})
