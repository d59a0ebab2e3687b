import { describe, expect, test } from 'bun:test'
import { toEvents } from '../../src/changes/change-response.ts'
import { AppError } from '../../src/errors.ts'
import { ResponseBuffers } from '../../src/http/response-buffers.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService()

interface Event {
  id: string
  event: string
  data: { seq: number; type: string; ref: string; call?: { id: string } }
}

/** A reader of a project's events. */
class Reader {
  readonly leaving = new AbortController()
  text = ''
  isOver = false

  static async open(project: TestProject, query = '', headers: Record<string, string> = {}): Promise<Reader> {
    const reader = new Reader()
    const { signal } = reader.leaving
    const accept = 'text/event-stream, */*;q=0.1'
    const answer = await project.fetch(`/v1/changes?${query}`, { headers: { accept, ...headers }, signal })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    void reader.#read(answer)
    return reader
  }

  get events(): Event[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => block.startsWith('id: '))
      .map((block) => {
        const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? []
        return { id, event, data: JSON.parse(data) }
      })
  }

  async #read(answer: Response): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const part of answer.body ?? []) this.text += decoder.decode(part, { stream: true })
    } catch (error) {
      if (!this.leaving.signal.aborted) this.text += String(error)
    }
    this.isOver = true
  }
}

async function put(project: TestProject, id: string, summary: string | null = null): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, { summary })).status).toBeLessThan(300)
}

describe('GET /v1/changes as server-sent events', () => {
  test('gives what there is and what comes, with the same entries as pages', async () => {
    const project = await service.mintProject()
    await put(project, 'a', 'line\nbreak')
    await put(project, 'b')
    const reader = await Reader.open(project)
    await until(() => reader.events.length === 2)
    await put(project, 'c')
    await project.fetch('/v1/calls/b', { method: 'DELETE' })
    await until(() => reader.events.length === 4)
    const { events } = reader
    expect(events.map(({ event }) => event)).toEqual([
      'call.changed',
      'call.changed',
      'call.changed',
      'call.deleted',
    ])
    expect(events.map(({ id, event }) => [id, event])).toEqual(
      events.map(({ data }) => [String(data.seq), data.type]),
    )
    const { data } = await (await project.fetch('/v1/changes')).json()
    expect([events[0]?.data, events[2]?.data, events[3]?.data]).toEqual(data)
    expect(reader.text).toStartWith('retry: 1000\n\n')
    reader.leaving.abort()
    await until(() => service.services.changeWatch.count === 0)
  })

  test('goes on after Last-Event-ID, which counts more than `after`, and takes `include`', async () => {
    const project = await service.mintProject()
    for (const id of ['a', 'b', 'c']) await put(project, id)
    const reader = await Reader.open(project, 'after=0&include=none', { 'last-event-id': '2' })
    await until(() => reader.events.length > 0)
    expect(reader.events.map(({ id, data }) => [id, data.call])).toEqual([['3', undefined]])
    reader.leaving.abort()
    // Also refused where it would not be used.
    for (const accept of ['text/event-stream', 'application/json']) {
      const headers = { accept, 'last-event-id': 'abc' }
      const problem = await expectProblem(await project.fetch('/v1/changes', { headers }), 'invalid_request')
      expect(JSON.stringify(problem)).toContain('"field":"Last-Event-ID"')
    }
  })

  test('streams more than one page', async () => {
    const project = await service.mintProject()
    const inputs = Array.from({ length: 250 }, (_, n) => ({ id: `call-${n}`, change: {} }))
    await service.services.ingest.putAll(project.projectId, inputs)
    const reader = await Reader.open(project, 'limit=0')
    await until(() => reader.events.length === 250)
    expect(reader.events.map(({ data }) => data.call?.id)).toEqual(inputs.map(({ id }) => id))
    reader.leaving.abort()
  })

  test('a reader that leaves stops waiting', async () => {
    const project = await service.mintProject()
    const readers = await Promise.all(Array.from({ length: 20 }, () => Reader.open(project)))
    await until(() => service.services.changeWatch.count === 20)
    for (const { leaving } of readers) leaving.abort()
    await until(() => service.services.changeWatch.count === 0)
  })

  test('ends when its key is revoked, before anything else is sent', async () => {
    const project = await service.mintProject()
    const reader = await Reader.open(project)
    await until(() => service.services.changeWatch.count > 0)
    await service.services.keys.revoke(project.projectId, project.keyId)
    await put(project, 'secret')
    await until(() => reader.isOver)
    expect(reader.text).toBe('retry: 1000\n\n')
  })

  test('ends when its project is deleted', async () => {
    const project = await service.mintProject()
    const reader = await Reader.open(project)
    await until(() => service.services.changeWatch.count > 0)
    await service.services.projects.delete(project.projectId)
    await until(() => reader.isOver)
    expect(service.logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  test('HEAD answers its headers', async () => {
    const project = await service.mintProject()
    const headers = { accept: 'text/event-stream' }
    const answer = await project.fetch('/v1/changes', { method: 'HEAD', headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    expect(service.services.changeWatch.count).toBe(0)
  })

  test('a comment is sent while there is nothing else, and a revoked key ends even that', async () => {
    const project = await service.mintProject()
    let isRevoked = false
    const check = async () => {
      if (isRevoked) throw new AppError('invalid_api_key', 'Invalid API key')
    }
    const body = new ResponseBuffers().endlessOf(
      { projectId: project.projectId, check },
      (_, signal) =>
        toEvents(
          service.services.changes.follow(
            project.projectId,
            { after: 0, limit: 5 },
            { include: 'call', everyMs: 20, signal },
          ),
        ),
      (error) => expect(error).toBeUndefined(),
    )
    const reader = body.getReader()
    const next = async () => new TextDecoder().decode((await reader.read()).value)
    expect([await next(), await next(), await next()]).toEqual(['retry: 1000\n\n', ':\n\n', ':\n\n'])
    await put(project, 'a')
    let event = ':\n\n'
    while (event === ':\n\n') event = await next()
    expect(event).toStartWith('id: 1\nevent: call.changed\ndata: {"seq":1,')
    isRevoked = true
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  })
})
