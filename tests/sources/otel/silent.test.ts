import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { freshFolder } from '../../support/at-end.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'
import { livekitSession, pipecatSession, requestOf } from './spans.ts'

const minute = 60_000
let now = Date.parse('2026-01-01T00:00:00Z')
const service = await startService({ now: () => now })
const project = await service.mintProject()

/** The first turns of a session that was killed, and its id. */
async function begin(of = project): Promise<string> {
  const traceId = randomBytes(16).toString('hex')
  await send(requestOf(livekitSession.slice(0, 4), traceId), of)
  return traceId
}

async function send(request: object, of = project): Promise<void> {
  expect((await of.send('POST', '/ingest/otlp/v1/traces', request)).status).toBe(200)
}

async function callOf(id: string, of = project) {
  return await (await of.fetch(`/v1/calls/${id}`)).json()
}

async function sessionsOf({ projectId }: TestProject): Promise<number> {
  const [row] = await service.services.database.read.all<{ n: number }>(
    sql`select count(*) as n from call_sessions where project_id = ${projectId}`,
  )
  return row?.n ?? -1
}

test('a session that says nothing for 30 minutes is completed, with what it has said', async () => {
  const id = await begin()
  now += 30 * minute - 1
  await service.services.callSessions.finish()
  expect((await callOf(id)).status).toBe('live')
  now += 1
  await service.services.callSessions.finish()
  expect(await callOf(id)).toMatchObject({
    status: 'completed',
    duration: 4.5,
    endedReason: null,
    isEngaged: true,
    createdAt: '2023-11-14T22:13:20.000Z',
    transcript: [{ role: 'assistant' }, { role: 'user' }],
  })
})

test('what comes within these minutes starts them anew', async () => {
  const id = await begin()
  now += 20 * minute
  await send(requestOf(livekitSession.slice(4, 11), id))
  now += 20 * minute
  await service.services.callSessions.finish()
  expect((await callOf(id)).status).toBe('live')
})

test('what comes later still adds its turns and its end', async () => {
  const id = await begin()
  now += 31 * minute
  await service.services.callSessions.finish()
  await send(requestOf(livekitSession.slice(4, 13), id))
  expect(await callOf(id)).toMatchObject({ status: 'completed', duration: 9, transcript: { length: 6 } })
  await send(requestOf(livekitSession.slice(13), id))
  expect(await callOf(id)).toMatchObject({ duration: 62.5, endedReason: 'participant_disconnected' })
})

test('a session that has said its end is left as it is', async () => {
  const id = await begin()
  await send(requestOf(livekitSession.slice(4), id))
  const before = await callOf(id)
  now += 31 * minute
  await service.services.callSessions.finish()
  expect(await callOf(id)).toEqual(before)
  const due = await service.services.database.read.all(
    sql`select 1 from call_sessions where trace_id = ${id} and due_at is not null`,
  )
  expect(due).toEqual([])
})

test('what never became a call is not kept, down to its bytes', async () => {
  const of = await service.mintProject()
  const word = newWord()
  const spans = pipecatSession.slice(0, 1).map((span) => ({ ...span, attributes: { text: word } }))
  await send(requestOf(spans, randomBytes(16).toString('hex')), of)
  expect(await sessionsOf(of)).toBe(1)
  if (!ofFilesOnly) expect(await findTraces(service.dataDir, tracesOfWord(word))).not.toEqual([])
  now += 31 * minute
  await service.services.callSessions.finish()
  expect(await sessionsOf(of)).toBe(0)
  expect((await (await of.fetch('/v1/calls')).json()).data).toEqual([])
  if (ofFilesOnly) return
  await service.services.erasure.finish()
  expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
})

test('nor is what was said before a session named a call that was deleted', async () => {
  const of = await service.mintProject()
  const word = newWord()
  const spans = pipecatSession.map((span) => ({
    ...span,
    attributes: { ...span.attributes, ...(span.name === 'tts' ? { text: word } : {}) },
  }))
  await of.send('PUT', '/ingest/calls/CA_1', {})
  await of.fetch('/v1/calls/CA_1', { method: 'DELETE' })
  await service.services.erasure.finish()
  const traceId = randomBytes(16).toString('hex')
  await send(requestOf(spans.slice(0, 1), traceId), of)
  expect(await sessionsOf(of)).toBe(1)
  await send(requestOf(spans.slice(1, 2), traceId), of)
  expect(await sessionsOf(of)).toBe(0)
  if (ofFilesOnly) return
  await service.services.erasure.finish()
  expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
})

test('a restart forgets no session', async () => {
  const dataDir = freshFolder()
  let time = now
  const first = await startService({ dataDir, now: () => time })
  const of = await first.mintProject()
  const id = await begin(of)
  await first.stop()
  time += 31 * minute
  const second = await startService({ dataDir, now: () => time })
  await second.services.callSessions.finish()
  const answer = await fetch(`${second.url}/v1/calls/${id}`, {
    headers: { authorization: `Bearer ${of.key}` },
  })
  expect(await answer.json()).toMatchObject({ status: 'completed', duration: 4.5 })
  await second.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
