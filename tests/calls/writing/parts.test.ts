import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { StoredCall } from '../../../src/calls/call-head.ts'
import { readStored } from '../../../src/calls/details.ts'
import type { CallChange, Turn } from '../../../src/calls/schemas.ts'
import { mergeCall } from '../../../src/calls/writing/merge.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'
import { until } from '../../support/until.ts'
import { exportParts, said } from '../put-calls.ts'

let time = Date.UTC(2026, 0, 5)
const service = await startService({ env: { ERASE_WITHIN_MS: '1000' }, now: () => time })

async function put(project: TestProject, id: string, change: CallChange): Promise<string> {
  const answer = await project.send('PUT', `/ingest/calls/${id}`, change)
  expect(answer.ok).toBe(true)
  return await answer.text()
}

/** The appended turns start at `at`. */
function append(at: number, ...contents: string[]): CallChange {
  return { appendTranscript: { at, turns: contents.map((content) => ({ role: 'assistant', content })) } }
}

async function partsOf({ projectId }: TestProject, id: string): Promise<number> {
  const [row] = await service.services.database.read.all<{ n: number }>(sql`
    select count(*) as n from call_parts join calls on calls.seq = call_parts.seq
    where project_id = ${projectId} and id = ${id}`)
  return row?.n ?? -1
}

async function storedDocument({ projectId }: TestProject): Promise<string> {
  const [row] = await service.services.database.read.all<{ document: string }>(sql`
    select document from call_documents join calls on calls.seq = call_documents.seq
    where project_id = ${projectId}`)
  return row?.document ?? ''
}

async function find({ projectId }: TestProject, text: string): Promise<string[]> {
  return (await service.services.calls.rows(projectId, { text })).data.map(({ id }) => id)
}

describe('a live call to which turns are appended', () => {
  const turns = fc.array(
    fc.record({
      role: fc.constantFrom<Turn['role']>('user', 'assistant'),
      content: fc.constantFrom('hi', 'ja, gern “so”', '👋', '', '"\\\n'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  const times = fc.constantFrom(
    '2026-01-01T00:00:00.000Z',
    '2026-01-02T00:00:00.5Z',
    '2026-01-03T01:00:00+02:00',
  )
  const others = fc.record(
    {
      summary: fc.constantFrom(null, 'booked', ''),
      duration: fc.constantFrom(0, 2.5),
      transcript: turns,
      metadata: fc.constantFrom(null, { a: 1 }),
      details: fc.constantFrom({ costUsd: 1 }, { costUsd: null, agent: { id: 'a' } }),
      status: fc.constantFrom<'live' | 'completed'>('live', 'completed'),
      callAnalysis: fc.constantFrom(null, { b: [1] }),
    },
    { requiredKeys: [] },
  )
  const steps = fc.oneof(
    { weight: 1, arbitrary: fc.tuple(fc.constant(null), turns, others, fc.record({}, { requiredKeys: [] })) },
    {
      weight: 5,
      arbitrary: fc.tuple(
        /** Turns before the end at which they are appended. */
        fc.oneof(
          { weight: 6, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.constantFrom(-1, 1, 2) },
        ),
        turns,
        fc.constant({}),
        fc.record({ occurredAt: times, updatedAt: times }, { requiredKeys: [] }),
      ),
    },
  )

  test('is served as if each change had been merged into the whole', async () => {
    let appended = 0
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 3, maxLength: 25 }), async (sequence) => {
        const project = await service.mintProject()
        const { projectId } = project
        let stored: StoredCall | null = mergeCall(null, 'a', { summary: 'first' }, time)
        expect(await put(project, 'a', { summary: 'first' })).toBe(stored.document)
        for (const [before, turns, others, times] of sequence) {
          time += 1_000
          const at = stored.call.transcript.length - (before ?? 0)
          const change: CallChange =
            before === null ? others : { appendTranscript: { at: Math.max(0, at), turns }, ...times }
          const merged = mergedOr(() => mergeCall(stored, 'a', change, time))
          const answer = await project.send('PUT', '/ingest/calls/a', change)
          expect(answer.ok).toBe(merged !== null)
          if (merged) stored = merged
          if (answer.ok) expect(await answer.text()).toBe(stored.document)
          appended += Math.min(1, await partsOf(project, 'a'))
        }
        await put(project, 'b', { ...said('other'), createdAt: '2020-01-01T00:00:00Z' })
        const { document, call, occurredAt, metadata, details } = stored
        expect(await (await project.fetch('/v1/calls/a')).text()).toBe(document)
        expect(await (await project.fetch('/v1/calls?limit=1')).text()).toStartWith(`{"data":[${document}],`)
        const lines = (await exportParts(service.services, projectId)).join('')
        const beside = {
          ...(occurredAt === null ? {} : { occurredAt: new Date(occurredAt).toISOString() }),
          ...(metadata === null ? {} : { metadata: JSON.parse(metadata) }),
          ...(details === null ? {} : { details: readStored(details) }),
        }
        expect(JSON.parse(lines.split('\n')[1] ?? '')).toEqual({ ...JSON.parse(document), ...beside })
        const [row] = await service.services.database.read.all(sql`
          select document_chars, updated_at, status from calls where project_id = ${projectId} and id = 'a'`)
        expect(row).toEqual({
          document_chars: document.length,
          updated_at: Date.parse(call.updatedAt),
          status: call.status,
        })
      }),
      runs(20),
    )
    expect(appended).toBeGreaterThan(20)
  })

  test('keeps its document until it has many parts, and from then on again', async () => {
    const project = await service.mintProject()
    await put(project, 'a', said('turn 0'))
    const whole = await storedDocument(project)
    for (let n = 1; n <= 64; n++) await put(project, 'a', append(n, `turn ${n}`))
    expect(await partsOf(project, 'a')).toBe(64)
    expect(await storedDocument(project)).toBe(whole)
    const answer = await put(project, 'a', append(65, 'turn 65'))
    expect(await partsOf(project, 'a')).toBe(0)
    expect(await storedDocument(project)).toBe(answer)
    expect(JSON.parse(answer).transcript).toHaveLength(66)
    await put(project, 'a', append(66, 'turn 66'))
    expect(await partsOf(project, 'a')).toBe(1)
    expect(await storedDocument(project)).toBe(answer)
  })

  test.each<[string, CallChange]>([
    ['is completed', { status: 'completed' }],
    ['gets another transcript', said('again')],
    ['gets anything else', { metadata: { a: 1 } }],
    ['gets a long turn', append(2, 'x'.repeat(5_000))],
  ])('is stored as a whole when it %s', async (_, change) => {
    const project = await service.mintProject()
    await put(project, 'a', said('turn 0'))
    await put(project, 'a', append(1, 'turn 1'))
    expect(await partsOf(project, 'a')).toBe(1)
    const answer = await put(project, 'a', change)
    expect(await partsOf(project, 'a')).toBe(0)
    expect(await storedDocument(project)).toBe(answer)
    expect(await (await project.fetch('/v1/calls/a')).text()).toBe(answer)
  })

  test('is not appended to beyond its largest size, nor once it is completed or deleted', async () => {
    const limited = await startService({ env: { CALL_MAX_BYTES: '1500' } })
    const project = await limited.mintProject()
    const send = (change: CallChange) => project.send('PUT', '/ingest/calls/a', change)
    await send(said('turn 0'))
    expect((await send(append(1, 'x'.repeat(500)))).status).toBe(200)
    expect((await send(append(2, 'x'.repeat(900)))).status).toBe(413)
    expect((await send({ status: 'completed' })).status).toBe(200)
    expect((await send(append(2, 'late'))).status).toBe(200)
    const [{ n } = { n: -1 }] = await limited.services.database.read.all<{ n: number }>(
      'select count(*) as n from call_parts',
    )
    expect(n).toBe(0)
    await project.fetch('/v1/calls/a', { method: 'DELETE' })
    expect((await send(append(3, 'later'))).status).toBe(410)
    await limited.stop()
  })
})

describe('the words of appended turns', () => {
  test('are found at once, together with those of earlier turns and the summary', async () => {
    const project = await service.mintProject()
    const other = await service.mintProject()
    for (const one of [project, other]) await put(one, 'a', { ...said('apples'), summary: 'Bought fruit' })
    await put(project, 'b', said('apples pears plums'))
    await put(project, 'a', append(1, 'Cherries, then buses'))
    await put(project, 'a', append(2, 'Grüße an Zoë'))
    expect(await partsOf(project, 'a')).toBe(2)
    for (const text of ['cherries', 'cherry apples', 'fruit bus', 'zoe apples fruits', 'cher', 'gruße zo'])
      expect([text, await find(project, text)]).toEqual([text, ['a']])
    expect(await find(project, 'apples')).toEqual(['b', 'a'])
    expect((await service.services.calls.rows(project.projectId, { text: 'apples' })).total).toBe(2)
    expect(await find(project, 'cherries pears')).toEqual([])
    expect(await find(project, 'erries')).toEqual([])
    expect(await find(other, 'cherries')).toEqual([])
    const [row] = (await service.services.calls.rows(project.projectId, { text: 'cherries' })).data
    expect(row?.match).toMatchObject({ where: 'assistant', text: 'Cherries, then buses' })
  })

  test('are found as those of whole calls are', async () => {
    const words = fc.constantFrom('apple', 'apples', 'bus', 'but', 'büro', 'Büros', '予約', 'a', '42')
    const text = fc.array(words, { minLength: 1, maxLength: 4 }).map((said) => said.join(' '))
    const calls = fc.array(fc.array(text, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(calls, fc.array(text, { minLength: 5, maxLength: 5 }), async (calls, queries) => {
        const [inParts, whole] = [await service.mintProject(), await service.mintProject()]
        const ingest = (project: TestProject, id: string, change: CallChange) =>
          service.services.ingest.put(project.projectId, id, {
            createdAt: new Date(time).toISOString(),
            ...change,
          })
        for (const [n, texts] of calls.entries()) {
          await ingest(whole, `${n}`, said(...texts))
          for (const [at, text] of texts.entries()) await ingest(inParts, `${n}`, append(at, text))
        }
        for (const query of queries)
          expect([query, await find(inParts, query)]).toEqual([query, await find(whole, query)])
      }),
      runs(8),
    )
  })

  test('are found all the time, whether they are still in parts, indexed, or in the whole document', async () => {
    const project = await service.mintProject()
    await put(project, 'a', said('apples'))
    await put(project, 'a', append(1, 'cherries'))
    time += 60_000
    await service.services.wordBacklog.finish()
    const waiting = sql`select 1 from calls_without_words`
    expect(await service.services.database.read.all(waiting)).toEqual([])
    expect(await partsOf(project, 'a')).toBe(1)
    expect(await find(project, 'apples cherries')).toEqual(['a'])
    await put(project, 'a', append(2, 'plums'))
    expect(await find(project, 'apples cherries plums')).toEqual(['a'])
    await put(project, 'a', { status: 'completed' })
    expect(await find(project, 'apples cherries plums')).toEqual(['a'])
    await service.services.wordBacklog.finish()
    expect(await service.services.database.read.all(waiting)).toEqual([])
    expect(await find(project, 'apples cherries plums')).toEqual(['a'])
  })

  test.skipIf(ofFilesOnly)(
    'are in no byte of any file once the call is deleted, nor is anything else of it',
    async () => {
      const project = await service.mintProject()
      const gone = Array.from({ length: 80 }, () => newWord())
      await put(project, 'a', said(gone[0] ?? ''))
      for (const [n, word] of gone.entries()) {
        await put(project, `kept${n}`, said(`stays ${n}`))
        await put(project, `kept${n}`, append(1, `stays too ${n}`))
        if (n > 0) await put(project, 'a', append(n, word))
      }
      expect(await partsOf(project, 'a')).toBeGreaterThan(0)
      const traces = gone.flatMap((word) => tracesOfWord(word))
      expect((await findTraces(service.dataDir, traces)).length).toBeGreaterThan(80)
      expect((await project.fetch('/v1/calls/a', { method: 'DELETE' })).status).toBe(200)
      const open = sql`select 1 from erasures where done_at is null`
      await until(async () => (await service.services.database.read.all(open)).length === 0)
      expect(await findTraces(service.dataDir, traces)).toEqual([])
      expect(await find(project, 'stays too 79')).toEqual(['kept79'])
    },
  )
})

/** Null when the change is refused. */
function mergedOr(merge: () => StoredCall): StoredCall | null {
  try {
    return merge()
  } catch {
    return null
  }
}
