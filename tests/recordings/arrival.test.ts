import { expect, test } from 'bun:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { receive } from '../../src/recordings/arrival.ts'
import type { Draft } from '../../src/recordings/files.ts'
import { frameBytes } from '../../src/recordings/frames.ts'
import { Turns } from '../../src/threads/turns.ts'
import { madeWav } from '../support/recordings.ts'

test('no whole frame is held while the next part is awaited', async () => {
  let written = 0
  const draft: Draft = {
    name: 'draft',
    path: '',
    write: async (parts) => {
      written += parts.reduce((sum, part) => sum + part.byteLength, 0)
    },
    finish: async () => undefined,
    discard: async () => undefined,
  }
  async function* slowly() {
    yield madeWav(3 * frameBytes + 1)
    await sleep(1)
    expect(written).toBeGreaterThan(3 * frameBytes)
    yield madeWav(100)
  }
  const files = { create: async () => draft }
  const { bytes } = await receive(slowly(), { files, bytesMax: 1_000_000, turns: new Turns() })
  expect(bytes).toBe(3 * frameBytes + 101)
})
