import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { ErasureReceipt } from '../../src/privacy/schemas.ts'
import { freshFolder } from '../support/at-end.ts'
import fc from '../support/fast-check.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })

interface Accepted {
  id: string
  calls: number
  onHold?: number
}

function ask(project: TestProject, body: object): Promise<Response> {
  return project.send('POST', '/v1/erasures', body)
}

async function erase(project: TestProject, body: object): Promise<Accepted> {
  const answer = await ask(project, body)
  expect(answer.status).toBe(202)
  return await answer.json()
}

async function receiptOf(project: TestProject, id: string): Promise<ErasureReceipt> {
  return await (await project.fetch(`/v1/erasures/${id}`)).json()
}

async function done(project: TestProject, { id }: Accepted): Promise<ErasureReceipt> {
  await until(async () => (await receiptOf(project, id)).status === 'done', 'The erasure')
  return await receiptOf(project, id)
}

async function put(project: TestProject, id: string, change: object): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, change)).status).toBe(201)
}

async function idsOf(project: TestProject): Promise<string[]> {
  const { data }: { data: { id: string }[] } = await (await project.fetch('/v1/calls?fields=id')).json()
  return data.map(({ id }) => id).sort()
}

async function auditOf({ projectId }: TestProject) {
  const { data } = await service.services.console.audit.list(projectId, { limit: 100 })
  return data.map(({ action, target, actor }) => ({ action, target, actor }))
}

describe('by number', () => {
  test('erases the calls of both sides, however the number is written, and no others', async () => {
    const project = await service.mintProject()
    const neighbour = await service.mintProject()
    await service.services.settings.change(project.projectId, { country: 'DE' })
    const word = newWord()
    const numbers = { a: '+4930123456', b: '(030) 12 34 56', c: '0049-30-123456', d: '+49 (0)30 123456' }
    for (const [id, callerNumber] of Object.entries(numbers))
      await put(project, id, { callerNumber, summary: word })
    await put(project, 'called', { calledNumber: '030 123456', details: { agent: { id: word } } })
    await put(project, 'longer', { callerNumber: '+49301234567' })
    await put(project, 'part', { callerNumber: '+493012345' })
    await put(project, 'abroad', { callerNumber: '+43 30 123456' })
    await put(neighbour, 'a', { callerNumber: '+4930123456' })
    const dry = await ask(project, { number: '030/123456', dryRun: true })
    expect([dry.status, await dry.json()]).toEqual([200, { calls: 5 }])
    expect(await idsOf(project)).toHaveLength(8)

    const accepted = await erase(project, { number: '030/123456' })
    expect(accepted).toStrictEqual({
      id: expect.stringMatching(/^era_/),
      calls: 5,
      status: 'pending',
    } as never)
    await put(project, 'later', { callerNumber: '+4930123456' })
    const receipt = await done(project, accepted)
    expect(receipt).toStrictEqual({
      id: accepted.id,
      status: 'done',
      requestedAt: expect.any(String),
      doneAt: expect.any(String),
      calls: 5,
      deleted: 5,
    })
    if (!ofFilesOnly) expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
    expect(await idsOf(project)).toEqual(['abroad', 'later', 'longer', 'part'])
    expect(await idsOf(neighbour)).toEqual(['a'])
    // Each call has the receipt of the request, and stays deleted.
    expect((await receiptOf(project, 'c')).doneAt).toBe(receipt.doneAt)
    expect((await project.send('PUT', '/ingest/calls/called', {})).status).toBe(410)
  })

  test('keeps the number nowhere, and the trail names the request and who made it', async () => {
    const project = await service.mintProject()
    const digits = `49${String(Math.random()).slice(2, 12).padEnd(10, '7')}`
    await put(project, 'a', { callerNumber: `+${digits}` })
    const accepted = await erase(project, { number: `+${digits}` })
    await done(project, accepted)
    const traces = [digits.slice(-9), [...digits].reverse().join('').slice(0, 9)].map((text) => ({
      name: text,
      bytes: Buffer.from(text),
    }))
    if (!ofFilesOnly) expect(await findTraces(service.dataDir, traces)).toEqual([])
    await until(async () => (await auditOf(project))[0]?.action === 'erasure_done')
    expect((await auditOf(project)).slice(0, 2)).toEqual([
      { action: 'erasure_done', target: `${accepted.id}: 1 call`, actor: null },
      {
        action: 'erasure_requested',
        target: `${accepted.id}: 1 call`,
        actor: expect.stringContaining('live'),
      },
    ])
  })

  test('takes the alerts that watch the number, with what they told of it', async () => {
    const project = await service.mintProject()
    const digits = `49${String(Math.random()).slice(2, 12).padEnd(10, '7')}`
    const add = async (name: string, callerNumber: string) => {
      const rule = {
        name,
        filters: { callerNumber: [callerNumber] },
        windowMinutes: 5,
        above: { alert: 0 },
        showOnly: true,
      }
      expect((await project.send('POST', '/v1/alerts', rule)).status).toBe(201)
    }
    const namesOf = async () =>
      (await (await project.fetch('/v1/alerts')).json()).data.map(({ name }: { name: string }) => name)
    await add('Watched', `+${digits}`)
    await add(`About +${digits}!`, `+${digits}`)
    await add('Longer', `+${digits}5`)
    await put(project, 'a', { callerNumber: `+${digits}` })
    // The one for the longer number watched this one before, and stays without what it told then.
    const url = `https://example.com/console/p/x/calls?callerNumber=%2B${digits}`
    const message = JSON.stringify({ name: 'n', url })
    const { write, read } = service.services.database
    await write.run(sql`
      insert into alert_changes (alert_seq, at, message) select seq, ${Date.now()}, text
      from alerts, (select ${message} as text union all select replace(${message}, ${digits}, ${`${digits}5`}))
      where project_id = ${project.projectId} and rule ->> '$.name' in ('Watched', 'Longer')`)
    await ask(project, { number: `+${digits}`, dryRun: true })
    expect(await namesOf()).toEqual(['Watched', `About +${digits}!`, 'Longer'])
    await done(project, await erase(project, { number: `+${digits}` }))
    expect(await namesOf()).toEqual(['Longer'])
    const left = await read.all<{ message: string }>(sql`
      select message from alert_changes where alert_seq in (
        select seq from alerts where project_id = ${project.projectId})`)
    expect(left.map((row) => row.message)).toEqual([message.replace(digits, `${digits}5`)])
    const traces = [`"+${digits}"`, `%2B${digits}"`, `+${digits}!`].map((text) => ({
      name: text,
      bytes: Buffer.from(text),
    }))
    if (!ofFilesOnly) expect(await findTraces(service.dataDir, traces)).toEqual([])
  })

  test('the feed has each deletion under a number of its own', async () => {
    const project = await service.mintProject()
    for (const id of ['a', 'b', 'c']) await put(project, id, { callerNumber: '+15557294053' })
    await done(project, await erase(project, { number: '+15557294053' }))
    const { data }: { data: { type: string; seq: number }[] } = await (
      await project.fetch('/v1/changes')
    ).json()
    expect(data.map(({ type }) => type)).toEqual(['call.deleted', 'call.deleted', 'call.deleted'])
    expect(new Set(data.map(({ seq }) => seq)).size).toBe(3)
  })
})

test('by ids and by time, and the same again, does no harm', async () => {
  const project = await service.mintProject()
  const at = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString()
  for (const day of [1, 2, 3]) await put(project, `c${day}`, { status: 'completed', createdAt: at(day) })
  await put(project, 'live', { createdAt: at(1) })
  const old = { before: at(3) }
  const accepted = [await erase(project, old), await erase(project, old)]
  const deleted = []
  for (const one of accepted) deleted.push((await done(project, one)).deleted ?? 0)
  expect(deleted.reduce((a, b) => a + b)).toBe(2)
  expect(await idsOf(project)).toEqual(['c3', 'live'])
  const byIds = await erase(project, { ids: ['live', 'live', 'c1', 'never'] })
  expect(byIds.calls).toBe(1)
  expect(await done(project, byIds)).toMatchObject({ calls: 1, deleted: 1 })
  expect(await done(project, await erase(project, { ids: ['live'] }))).toMatchObject({ calls: 0, deleted: 0 })
  expect(await idsOf(project)).toEqual(['c3'])
})

test('many requests that wait are erased together, not one after another', async () => {
  // Erasures start only when they are waited for.
  const slow = await startService({ env: { ERASE_WITHIN_MS: '600000' } })
  const project = await slow.mintProject()
  const ids = Array.from({ length: 30 }, (_, n) => `c${n}`)
  const inputs = ids.map((id) => ({ id, change: {} }))
  await slow.services.ingest.putAll(project.projectId, inputs)
  const accepted = await Promise.all(ids.map((id) => erase(project, { ids: [id] })))
  const times = new Set<string | null>()
  for (const one of accepted) times.add((await done(project, one)).doneAt)
  expect(times.size).toBeLessThan(15)
})

test('a request that is not one of the three is 400 and names the field', async () => {
  const project = await service.mintProject()
  const ids = Array.from({ length: 1_001 }, (_, n) => `c${n}`)
  const bad: [object, string][] = [
    [{}, 'body'],
    [{ dryRun: true }, 'body'],
    [{ number: '+15557294053', ids: ['a'] }, 'body'],
    [{ number: 'anonymous' }, 'number'],
    [{ number: 15557294053 }, 'number'],
    [{ ids: [] }, 'ids'],
    [{ ids }, 'ids'],
    [{ ids: ['a', 'not an id'] }, 'ids.1'],
    [{ before: 'yesterday' }, 'before'],
    [{ before: '2026-02-30T00:00:00Z' }, 'before'],
    [{ ids: ['a'], dryRun: 'yes' }, 'dryRun'],
  ]
  for (const [body, field] of bad) {
    const problem = await expectProblem(await ask(project, body), 'invalid_request')
    expect([body, problem.errors?.map((error) => error.field)]).toEqual([body, [field]])
  }
  const none = await expectProblem(await ask(project, { ids: [] }), 'invalid_request')
  expect(none.errors?.[0]?.message).toBe('must have at least 1 entry')
})

describe.skipIf(ofFilesOnly)('a stop in between', () => {
  test('is made good by the next start', async () => {
    const dataDir = freshFolder()

    const first = await startService({ dataDir, env: { ERASE_WITHIN_MS: '500' } })
    const project = await first.mintProject()
    const word = newWord()
    const inputs = Array.from({ length: 400 }, (_, n) => ({
      id: `c${n}`,
      change: { callerNumber: '+15557294053', summary: `${word} ${n}` },
    }))
    await first.services.ingest.putAll(project.projectId, inputs)
    const accepted = await erase(project, { number: '+15557294053' })
    await until(async () => ((await receiptOf(project, accepted.id)).deleted ?? 0) > 0)
    await first.stop()

    const second = await startService({ dataDir, env: { ERASE_WITHIN_MS: '500' } })
    const again = async (path: string) =>
      await (await fetch(second.url + path, { headers: { authorization: `Bearer ${project.key}` } })).json()
    await until(async () => (await again(`/v1/erasures/${accepted.id}`)).status === 'done')
    expect(await again(`/v1/erasures/${accepted.id}`)).toMatchObject({ calls: 400, deleted: 400 })
    expect(await findTraces(dataDir, tracesOfWord(word))).toEqual([])
    const { read } = second.services.database
    expect(await read.all(sql`select count(*) as n from erasure_slices`)).toEqual([{ n: 0 }])
    await second.stop()
  })
})

/** Numbers, and how people of the project's country write them. */
const people = [
  { number: '+4930123456', texts: ['+4930123456', '030 123456', '004930123456', '+49 30 12-34-56'] },
  { number: '+49301234567', texts: ['+49301234567', '(030) 1234567'] },
  { number: '+1 555 729 4053', texts: ['+15557294053', '001 555 729 4053'] },
  { number: '40404', texts: ['40404'] },
]
const text = fc.option(fc.constantFrom(...people.flatMap(({ texts }) => texts), 'anonymous'))
const call = fc.record({
  callerNumber: text,
  calledNumber: text,
  status: fc.constantFrom('live' as const, 'completed' as const),
  day: fc.integer({ min: 1, max: 5 }),
})
const wish = fc.oneof(
  fc.record({ number: fc.constantFrom(...people.flatMap(({ number, texts }) => [number, ...texts])) }),
  fc.record({ before: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ ids: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 5 }) }),
)

test('takes the calls that a naive reading takes, but for those on hold', async () => {
  const instant = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString()
  const personOf = (written: string | null) =>
    people.find(({ number, texts }) => [number, ...texts].includes(written ?? ''))
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 8 }),
      fc.array(wish, { maxLength: 3 }),
      fc.option(text),
      async (stored, wishes, held) => {
        const project = await service.mintProject()
        await service.services.settings.change(project.projectId, { country: 'DE' })
        const inputs = stored.map(({ day, ...change }, n) => ({
          id: `c${n}`,
          change: { ...change, createdAt: instant(day) },
        }))
        await service.services.ingest.putAll(project.projectId, inputs)
        const heldBy = personOf(held)
        if (heldBy)
          await service.services.holds.set(project.projectId, { number: heldBy.number, reason: 'r' })
        const left = new Map(stored.map((one, n) => [`c${n}`, one]))
        for (const wanted of wishes) {
          const matches = [...left].filter(([id, { callerNumber, calledNumber, status, day }]) => {
            if ('before' in wanted) return status === 'completed' && day < wanted.before
            if ('ids' in wanted) return wanted.ids.some((n) => id === `c${n}`)
            return [callerNumber, calledNumber].some(
              (written) => written && personOf(written) === personOf(wanted.number),
            )
          })
          const gone = matches.filter(
            ([, { callerNumber, calledNumber }]) =>
              !heldBy ||
              ![callerNumber, calledNumber].some((written) => written && personOf(written) === heldBy),
          )
          const body =
            'before' in wanted
              ? { before: instant(wanted.before) }
              : 'ids' in wanted
                ? { ids: wanted.ids.map((n) => `c${n}`) }
                : wanted
          const kept = matches.length - gone.length
          const counts = { calls: gone.length, ...(kept > 0 ? { onHold: kept } : {}) }
          expect(await (await ask(project, { ...body, dryRun: true })).json()).toStrictEqual(counts)
          expect(await done(project, await erase(project, body))).toMatchObject({
            ...counts,
            deleted: gone.length,
          })
          for (const [id] of gone) left.delete(id)
          expect(await idsOf(project)).toEqual([...left.keys()].sort())
        }
      },
    ),
    { numRuns: 12 },
  )
})
