import { describe, expect, test } from 'bun:test'
import { type ErrorCode, errorStatus } from '../../src/errors.ts'
import { createServer } from '../../src/server.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService({ env: { RATE_LIMIT_PER_MINUTE: '1000', BODY_MAX_BYTES: '2000' } })
const project = await service.mintProject()

describe('every error is one problem document', () => {
  test('of the documented title, for every code that a client can provoke', async () => {
    await project.send('PUT', '/ingest/calls/gone', {})
    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    const cases: [code: ErrorCode, title: string, answer: Promise<Response>][] = [
      ['invalid_request', 'Invalid request', project.fetch('/v1/calls?limit=x')],
      ['invalid_request', 'Invalid request', project.send('POST', '/v1/knowledge', {})],
      ['not_found', 'Call not found', project.fetch('/v1/calls/nobody')],
      ['not_found', 'Knowledge item not found', project.fetch('/v1/knowledge/kn_0')],
      ['not_found', 'Not found', project.fetch('/nowhere')],
      ['method_not_allowed', 'Method not allowed', project.fetch('/health', { method: 'POST' })],
      [
        'transcript_gap',
        'Transcript does not continue',
        project.send('PUT', '/ingest/calls/gap', { appendTranscript: { at: 1, turns: [] } }),
      ],
      [
        'timeline_gap',
        'Timeline does not continue',
        project.send('PUT', '/ingest/calls/gap', { appendTimeline: { at: 1, entries: [] } }),
      ],
      ['call_was_deleted', 'Call was deleted', project.send('PUT', '/ingest/calls/gone', {})],
      [
        'payload_too_large',
        'Payload too large',
        project.send('POST', '/v1/knowledge', { name: 'n', text: 'x'.repeat(2_000) }),
      ],
      [
        'unsupported_media_type',
        'Unsupported media type',
        project.fetch('/v1/knowledge', { method: 'POST', body: '{}' }),
      ],
      [
        'forbidden',
        'Forbidden',
        fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '192.0.2.1' } }),
      ],
    ]
    for (const [code, title, answer] of cases) await expectProblem(await answer, code, title)
  })

  test('also when nobody expected it: the client learns nothing of the cause, the log everything but the values', async () => {
    const { write } = service.services.database
    const victim = await service.mintProject()
    await victim.send('PUT', '/ingest/calls/call-7', { summary: 'secret summary' })
    await write.run('alter table call_documents rename to lost')
    const answer = await victim.fetch('/v1/calls/call-7')
    await write.run('alter table lost rename to call_documents')
    const { detail, requestId } = await expectProblem(answer, 'internal', 'Internal error')
    expect(detail).not.toMatch(/sql|table|query|document/i)
    const logged = service.logs.filter((line) => line.requestId === requestId)
    expect(logged.map(({ msg }) => msg)).toEqual(['internal', 'request'])
    expect(JSON.stringify(logged[0])).toContain('no such table')
  })

  test('its type leads to its row in the table of errors', async () => {
    const page = await (await fetch(`${service.url}/docs/errors`)).text()
    for (const [code, status] of Object.entries(errorStatus))
      expect(page).toContain(`<tr id="${code}"><td><code>${code}</code></td><td>${status}</td>`)
  })

  test('a 503 says when to come back', async () => {
    const notReady = { ...service.services, notReadyBecause: async () => 'Startup is not finished yet.' }
    const answer = await createServer(notReady, () => null).handle(new Request('http://localhost/ready'))
    expect(answer.headers.get('retry-after')).toBe('1')
    const { detail } = await expectProblem(answer, 'unavailable')
    expect(detail).toBe('Startup is not finished yet.')
  })
})

describe('404 and 405', () => {
  test.each([
    '/nowhere',
    '/health/x',
    '/v1/calls/a/b',
    '/v1/calls//',
    '/V1/calls',
    '/%761/calls',
    '/docs/nope',
    '/docs/guide/nope',
  ])('%s is 404 for every method', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      await expectProblem(await project.fetch(path, { method }), 'not_found')
  })

  test('one slash more at the end is the same path', async () => {
    await project.send('PUT', '/ingest/calls/slash/', { summary: 'found' })
    for (const path of [
      '/v1/calls/',
      '/v1/calls/slash/',
      '/v1/knowledge/',
      '/health/',
      '/docs/',
      '/docs/json/',
      '/docs/guide/',
    ]) {
      expect([path, (await project.fetch(path)).status]).toEqual([path, 200])
      const wrong = await project.fetch(path, { method: 'PATCH' })
      expect([path, wrong.status]).toEqual([path, 405])
    }
  })
})
