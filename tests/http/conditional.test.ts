import { beforeAll, describe, expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()
await project.send('PUT', '/ingest/calls/a', { summary: 'first' })
const created = await project.send('POST', '/v1/knowledge', { name: 'n', text: 'words' })
const itemPath = created.headers.get('location') ?? ''

/** As bytes on the wire: without an Accept-Encoding of the client's own, and not unpacked by it. */
function ask(path: string, headers: Record<string, string> = {}, of = project): Promise<Response> {
  const init: RequestInit & { decompress: boolean } = {
    headers: { 'accept-encoding': 'identity', ...headers },
    decompress: false,
  }
  return of.fetch(path, init)
}

async function tagOf(path: string, headers?: Record<string, string>, of?: TestProject): Promise<string> {
  const answer = await ask(path, headers, of)
  await answer.arrayBuffer()
  return answer.headers.get('etag') ?? ''
}

describe('tags', () => {
  const paths = ['/v1/calls/a', '/v1/calls', '/v1/calls?limit=1', '/v1/knowledge'] as const

  test('are strong, and who sends one that holds gets 304 without a body', async () => {
    for (const path of [...paths, itemPath]) {
      const tag = await tagOf(path)
      expect([path, tag]).toEqual([path, expect.stringMatching(/^"[^"]+"$/)])
      for (const known of [tag, `"other", W/${tag}`, '*']) {
        const answer = await ask(path, { 'if-none-match': known })
        expect([path, known, answer.status, await answer.text()]).toEqual([path, known, 304, ''])
        expect(answer.headers.get('etag')).toBe(tag)
        expect(answer.headers.get('cache-control')).toBe('private, no-cache')
        expect(answer.headers.get('x-request-id')).toBeString()
      }
      expect((await ask(path, { 'if-none-match': '"other"' })).status).toBe(200)
    }
  })

  test('change with the record, and those of lists with the project', async () => {
    const before = await Promise.all([...paths, itemPath].map((path) => tagOf(path)))
    await project.send('PUT', '/ingest/calls/a', { summary: 'first' })
    expect(await Promise.all([...paths, itemPath].map((path) => tagOf(path)))).toEqual(before)
    await project.send('PUT', '/ingest/calls/b', {})
    expect(await tagOf('/v1/calls/a')).toBe(before[0] ?? '')
    expect(await tagOf('/v1/calls')).not.toBe(before[1] ?? '')
    await project.send('PUT', '/ingest/calls/a', {
      appendTranscript: { at: 0, turns: [{ role: 'user', content: 'x' }] },
    })
    const answer = await ask('/v1/calls/a', { 'if-none-match': before[0] ?? '' })
    expect([answer.status, (await answer.json()).transcript.length]).toEqual([200, 1])
    const list = await tagOf('/v1/calls')
    await project.fetch('/v1/calls/b', { method: 'DELETE' })
    expect(await tagOf('/v1/calls')).not.toBe(list)
  })

  test('are of one project: the same changes in another one have others', async () => {
    const [one, two] = [await service.mintProject(), await service.mintProject()]
    for (const each of [one, two]) await each.send('PUT', '/ingest/calls/same', { summary: each.id })
    const tag = await tagOf('/v1/calls/same', {}, one)
    expect(await tagOf('/v1/calls/same', {}, two)).not.toBe(tag)
    expect((await ask('/v1/calls/same', { 'if-none-match': tag }, two)).status).toBe(200)
  })

  test('of a record that is not there are 404, whatever the client has', async () => {
    for (const path of ['/v1/calls/nobody', '/v1/knowledge/nothing'])
      expect([path, (await ask(path, { 'if-none-match': '*' })).status]).toEqual([path, 404])
  })
})

describe('compression', () => {
  const gzip = { 'accept-encoding': 'gzip, deflate' }
  const turns = Array.from({ length: 400 }, (_, n) => ({ role: 'user', content: `words of turn ${n}` }))

  beforeAll(async () => {
    for (let n = 0; n < 40; n++) await project.send('PUT', `/ingest/calls/long-${n}`, { transcript: turns })
  })

  test('gives long answers, streamed or not, in gzip to who accepts it: the same bytes, with a tag of their own', async () => {
    for (const path of ['/v1/calls/long-0', '/v1/calls?limit=1', '/v1/calls']) {
      const plain = await ask(path)
      const packed = await ask(path, gzip)
      expect([path, plain.headers.get('content-encoding')]).toEqual([path, null])
      expect([path, packed.headers.get('content-encoding')]).toEqual([path, 'gzip'])
      expect(packed.headers.get('vary')).toContain('Accept-Encoding')
      const [bytes, packedBytes] = [await plain.bytes(), await packed.bytes()]
      expect(Buffer.compare(gunzipSync(packedBytes), bytes)).toBe(0)
      expect(packedBytes.length).toBeLessThan(bytes.length / 4)
      const tag = packed.headers.get('etag') ?? ''
      expect(tag).not.toBe(plain.headers.get('etag'))
      const again = await ask(path, { ...gzip, 'if-none-match': tag })
      expect([path, again.status, again.headers.get('etag')]).toEqual([path, 304, tag])
    }
  })

  test('leaves alone what is short, what is refused, and what has no body', async () => {
    expect((await ask('/v1/calls/a', gzip)).headers.get('content-encoding')).toBeNull()
    expect((await (await ask('/v1/calls/a', gzip)).json()).id).toBe('a')
    for (const accepted of ['br', 'gzip;q=0', 'identity'])
      expect(
        (await ask('/v1/calls', { 'accept-encoding': accepted })).headers.get('content-encoding'),
      ).toBeNull()
    const head = await project.fetch('/v1/calls', { method: 'HEAD', headers: gzip })
    expect([head.status, head.headers.get('content-encoding')]).toEqual([200, null])
  })

  test('ends when its client goes away, and frees what the answer held', async () => {
    for (let n = 0; n < 200; n++) {
      const stop = new AbortController()
      const answer = await project.fetch('/v1/calls?limit=1000', { headers: gzip, signal: stop.signal })
      await answer.body?.getReader().read()
      stop.abort()
    }
    expect((await ask('/v1/calls?limit=1000', gzip)).status).toBe(200)
    expect(service.logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })
})
