import { expect, spyOn, test } from 'bun:test'
import { Saver } from '../../../src/knowledge/index/saver.ts'

test('what cannot be saved is tried again less and less often, and as soon as ever once it was saved', async () => {
  let isFull = true
  let failures = 0
  const save = async () => {
    if (isFull) throw new Error('No space left on the device')
  }
  const saver = new Saver(save, () => failures++)
  const waits: number[] = []
  let goOff = () => {}
  const timers = spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => {
    waits.push(ms / 1_000)
    goOff = run
  }) as typeof setTimeout)
  try {
    saver.soon()
    for (let failure = 1; failure <= 9; failure++) {
      goOff()
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    expect(failures).toBe(9)
    isFull = false
    await saver.now()
    saver.soon()
    expect(waits.at(-1)).toBe(2)
  } finally {
    timers.mockRestore()
    saver.stop()
  }
})
