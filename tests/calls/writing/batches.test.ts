import { expect, test } from 'bun:test'
import { ProjectBatches } from '../../../src/calls/writing/batches.ts'
import { AppError } from '../../../src/errors.ts'

interface BatchesOptions {
  run: (inputs: number[]) => Promise<number[]>
  sizeOf: (input: number) => number
  sizeMax: number
}

/** The batches of one project. */
function batchesOf(options: BatchesOptions) {
  const batches = new ProjectBatches<number, number>(() => options)
  return { add: (input: number) => batches.add(1, input) }
}

function gathering(sizeMax = 100, refuses: (inputs: number[]) => boolean = () => false) {
  const runs: number[][] = []
  const batches = batchesOf({
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

test('what arrives during two batches shares the next one, in its order', async () => {
  const { batches, runs } = gathering()
  const results = await Promise.all([1, 2, 3, 4].map((input) => batches.add(input)))
  expect(results).toEqual([2, 4, 6, 8])
  expect(runs).toEqual([[1], [2], [3, 4]])
  expect(await batches.add(5)).toBe(10)
})

test('a second batch runs beside another once it is as large', async () => {
  const runs: number[][] = []
  const ends: (() => void)[] = []
  const run = (inputs: number[]): Promise<number[]> =>
    new Promise((resolve) => {
      runs.push(inputs)
      ends.push(() => resolve(inputs))
    })
  const batches = batchesOf({ run, sizeOf: () => 1, sizeMax: 10 })
  const end = async (position: number) => {
    ends[position]?.()
    await Bun.sleep(0)
  }
  for (const input of [1, 2, 3, 4, 5]) void batches.add(input)
  await end(0)
  await end(1)
  expect(runs).toEqual([[1], [2], [3, 4, 5]])
  for (const input of [6, 7]) void batches.add(input)
  expect(runs).toHaveLength(3)
  for (const input of [8, 9, 10, 11]) void batches.add(input)
  expect(runs.slice(3)).toEqual([[6, 7, 8]])
  await end(2)
  expect(runs.slice(4)).toEqual([[9, 10, 11]])
})

test('a batch takes inputs up to its size, and one that is larger alone', async () => {
  const { batches, runs } = gathering(10)
  await Promise.all([1, 4, 6, 4, 5, 20, 1].map((input) => batches.add(input)))
  expect(runs).toEqual([[1], [4], [6, 4], [5], [20], [1]])
})

test('what fails together is tried one by one, and each has its own answer', async () => {
  const { batches, runs } = gathering(100, (inputs) => inputs.includes(3))
  const outcomes = await Promise.allSettled([1, 2, 3, 4].map((input) => batches.add(input)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(runs).toEqual([[1], [2], [3, 4], [3], [4]])
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
  const batches = batchesOf({ run, sizeOf: () => 1, sizeMax: 10 })
  const outcomes = await Promise.allSettled([1, 2, 3].map((input) => batches.add(input)))
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)).toEqual([
    busy,
    busy,
    busy,
  ])
  expect(runs).toBe(2)
})
