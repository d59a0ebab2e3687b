import { expect, test } from 'bun:test'
import { Duties } from '../../src/db/duties.ts'
import { until } from '../support/until.ts'

test('what fails is tried again until it is done once, and holds up nothing else', async () => {
  const failures: unknown[] = []
  const duties = new Duties((error) => failures.push(error))
  const tried: string[] = []
  await duties.attempt(async () => {
    tried.push('first')
    if (tried.length < 4) throw new Error(`at ${tried.length}`)
  })
  await duties.attempt(async () => tried.push('second'))
  expect(tried).toEqual(['first', 'second'])
  await until(() => tried.length === 4)
  expect(failures.map(String)).toEqual(['Error: at 1', 'Error: at 3'])
  await duties.close()
})

test('nothing is tried once it is closed', async () => {
  let tries = 0
  const duties = new Duties(() => undefined)
  const fail = async () => {
    tries++
    throw new Error('no')
  }
  await duties.attempt(fail)
  await duties.close()
  await duties.attempt(fail)
  await Bun.sleep(2_500)
  expect(tries).toBe(1)
})
