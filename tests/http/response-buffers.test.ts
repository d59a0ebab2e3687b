import { expect, test } from 'bun:test'
import { ResponseBuffers } from '../../src/http/response-buffers.ts'

const mib = 1_048_576
const unavailable = { code: 'unavailable', detail: 'Too many large records are being read or sent.' }

/** A large document as an answer that nobody has read yet. */
function documentOf(buffers: ResponseBuffers, projectId: number) {
  return buffers.bodyOf(projectId, async (admit) => {
    admit(8 * mib)
    return { document: new Uint8Array(8 * mib) }
  })
}

test("one project's unread answers leave room for another's, and have half while it has some", async () => {
  const buffers = new ResponseBuffers()
  const unread = []
  for (let n = 0; n < 6; n++) unread.push(await documentOf(buffers, 1))
  await expect(documentOf(buffers, 1)).rejects.toMatchObject(unavailable)
  const { document } = await documentOf(buffers, 2)
  const body = await buffers.streamOf(readerOf(2), '[', asyncOf(['1'.repeat(8 * mib)]), ']', 8 * mib)
  for (const { document } of unread.slice(0, 2)) await new Response(document).arrayBuffer()
  await expect(documentOf(buffers, 1)).rejects.toMatchObject(unavailable)
  expect((await new Response(document).arrayBuffer()).byteLength).toBe(8 * mib)
  expect((await new Response(body).arrayBuffer()).byteLength).toBe(8 * mib + 2)
  unread.push(await documentOf(buffers, 1))
})

test.each([
  ['ends', async () => undefined],
  ['fails', () => Promise.reject(new Error('A failure of the test'))],
])('a stream of events that %s after it has made a large part holds nothing any longer', async (_, end) => {
  const buffers = new ResponseBuffers()
  for (let n = 0; n < 8; n++) {
    const make = async function* (admit: (bytes: number) => void) {
      admit(8 * mib)
      await end()
      yield* []
    }
    await new Response(buffers.endlessOf(readerOf(1), make, () => undefined)).arrayBuffer()
  }
  expect(await documentOf(buffers, 1)).toBeObject()
})

test('after the first, the parts of a large answer are small enough for the allocator to keep their memory', async () => {
  const slices = Array.from({ length: 60 }, (_, n) => new Uint8Array(50_000).fill(n))
  const body = await new ResponseBuffers().streamOf(readerOf(1), '[', asyncOf(slices), ']')
  const parts: Uint8Array[] = []
  for await (const part of new Response(body).body ?? []) parts.push(part)
  expect(Buffer.concat(parts)).toEqual(Buffer.concat([Buffer.from('['), ...slices, Buffer.from(']')]))
  expect(Math.max(...parts.slice(1).map(({ length }) => length))).toBeLessThan(mib / 8)
})

function readerOf(projectId: number) {
  return { projectId, check: async () => undefined }
}

async function* asyncOf<Value>(values: Value[]): AsyncGenerator<Value> {
  yield* values
}
