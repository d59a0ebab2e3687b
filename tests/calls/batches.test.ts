import { expect, test } from 'bun:test'
import { Batches } from '../../src/calls/batches.ts'
import { AppError } from '../../src/errors.ts'

function gathering(sizeMax = 100, refuses: (inputs: number[]) => boolean = () => false) {
  const runs: number[][] = []
  const batches = new Batches<number, number>({
    run: async (inputs) => {
      runs.push(inputs)
      await Bun.sleep(1)
      if (refuses(inputs)) throw new Error(`refused ${inputs}`)
      return inputs.map((input) => input * 2)
    },
    sizeOf: (input) => input,
    sizeMax,
  })
  return { batches, runs }
}

test('what arrives during a batch shares the next one, in its order', async () => {
  const { batches, runs } = gathering()
  const results = await Promise.all([1, 2, 3, 4].map((input) => batches.add(input)))
  expect(results).toEqual([2, 4, 6, 8])
  expect(runs).toEqual([[1], [2, 3, 4]])
  expect(await batches.add(5)).toBe(10)
})

test('a batch takes inputs up to its size, and one that is larger alone', async () => {
  const { batches, runs } = gathering(10)
  await Promise.all([1, 4, 6, 5, 20, 1].map((input) => batches.add(input)))
  expect(runs).toEqual([[1], [4, 6], [5], [20], [1]])
})

test('what fails together is tried one by one, and each has its own answer', async () => {
  const { batches, runs } = gathering(100, (inputs) => inputs.includes(3))
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((input) => batches.add(input)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(runs).toEqual([[1], [2, 3, 4], [2], [3], [4]])
  expect(await batches.add(5)).toBe(10)
})

test('when the database takes no writes, what waits is refused with the batch', async () => {
  const busy = new AppError('unavailable', 'Service unavailable')
  let runs = 0
  const run = async (): Promise<number[]> => {
    runs++
    await Bun.sleep(1)
    throw busy
  }
  const batches = new Batches<number, number>({ run, sizeOf: () => 1, sizeMax: 10 })
  const outcomes = await Promise.allSettled([1, 2, 3].map((input) => batches.add(input)))
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)).toEqual([
    busy,
    busy,
    busy,
  ])
  expect(runs).toBe(1)
})
