import { describe, expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { createServer } from '../../src/server.ts'
import { startConsole } from '../support/console.ts'
import { head, opened } from '../support/raw-http.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const records = 100
/** In all, several parts of an answer. */
const recordChars = 60_000

const service = await startService()
const console = await startConsole(service)
/** The service without a network in between, whose buffers would take all of an answer. */
const app = createServer(service.services, () => '127.0.0.1')

async function filledProject(): Promise<TestProject> {
  const project = await console.mintProject()
  const { ingest, knowledge } = service.services
  const text = 'word '.repeat(recordChars / 5)
  const inputs = Array.from({ length: records }, (_, at) => ({ id: `call-${at}`, change: { summary: text } }))
  // A server takes only so much in one statement.
  for (const half of [inputs.slice(0, records / 2), inputs.slice(records / 2)])
    await ingest.putAll(project.projectId, half)
  for (let at = 0; at < 30; at++)
    await knowledge.store(project.projectId, { name: `Item ${at}`, description: '', text })
  return project
}

/** How many characters come before and after `revoke`, and whether the answer breaks off. */
async function readAround(request: Request, revoke: () => Promise<unknown>) {
  const answer = await app.fetch(request)
  expect(answer.status).toBe(200)
  const reader = answer.body?.getReader()
  if (!reader) throw new Error('The answer has no body')
  const { value: first } = await reader.read()
  await revoke()
  // It holds for what begins in the next turn of the event loop, as a request would.
  await setImmediate()
  let after = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { before: first?.length ?? 0, after, breaksOff: false }
      after += value.length
    }
  } catch {
    return { before: first?.length ?? 0, after, breaksOff: true }
  }
}

describe('an answer that is still being read when its key is revoked', () => {
  test.each([
    ['/v1/changes', 'text/event-stream', false],
    ['/v1/changes?limit=1000', 'application/json', true],
    ['/v1/calls?limit=1000', 'application/json', true],
    ['/v1/calls', 'application/x-ndjson', true],
    ['/v1/calls', 'text/csv', true],
    ['/v1/knowledge', 'application/json', true],
  ])('ends with what was sent before: %s as %s', async (path, accept, breaksOff) => {
    const project = await filledProject()
    const headers = { accept, authorization: `Bearer ${project.key}` }
    const read = await readAround(new Request(`http://localhost${path}`, { headers }), () =>
      service.services.keys.revoke(project.projectId, project.keyId),
    )
    expect(read).toEqual({ before: expect.any(Number), after: 0, breaksOff })
    // Nobody but the holder of the key made a mistake.
    expect(service.logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  test('is whole while the key is valid', async () => {
    const project = await filledProject()
    const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${project.key}` }
    const request = new Request('http://localhost/v1/calls', { headers })
    const read = await readAround(request, async () => undefined)
    expect(read.breaksOff).toBe(false)
    expect(read.before + read.after).toBeGreaterThan(records * recordChars)
  })

  test('the console’s export ends with its session', async () => {
    const project = await filledProject()
    const member = await console.join(project, 'member')
    const url = `http://localhost/console/api/projects/${project.id}/exports/calls.jsonl`
    const request = new Request(url, { headers: { cookie: member.cookie } })
    const read = await readAround(request, () => member.send('DELETE', '/session'))
    expect(read).toEqual({ before: expect.any(Number), after: 0, breaksOff: true })
  })
})

describe('a request body that is still arriving when its key is revoked', () => {
  test('is written no further, and each later line is answered 401', async () => {
    const project = await service.mintProject()
    const headers = {
      authorization: `Bearer ${project.ingestKey}`,
      'content-type': 'application/x-ndjson',
      'transfer-encoding': 'chunked',
    }
    const { socket, received } = await opened(service.url, head('POST /ingest/calls HTTP/1.1', headers))
    const send = (text: string) => socket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
    send('{"id":"before"}\n')
    await until(() => received().includes('{"id":"before","status":201}'))
    const [key] = (await service.services.keys.list(project.projectId)).filter(
      ({ kind }) => kind === 'ingest',
    )
    await service.services.keys.revoke(project.projectId, key?.id ?? '')
    send('{"id":"after"}\n')
    await until(() => received().includes('"id":"after"'))
    send('{"id":"last"}')
    socket.write('0\r\n\r\n')
    await until(() => received().includes('"id":"last"'))
    socket.destroy()
    expect(received()).toContain('"id":"after","status":401,"code":"invalid_api_key"')
    expect(received()).toContain('"id":"last","status":401,"code":"invalid_api_key"')
    const { data } = await (await project.fetch('/v1/calls')).json()
    expect(data.map(({ id }: { id: string }) => id)).toEqual(['before'])
  })
})
