import { describe, expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { CallWords } from '../../../src/calls/finding/call-words.ts'
import { WordBacklog } from '../../../src/calls/finding/word-backlog.ts'
import { dropSegment, segmentTable } from '../../../src/db/word-segments.ts'
import type { WriteDatabase } from '../../../src/db/write-database.ts'
import { openCommand } from '../../support/command.ts'
import { coreLike } from '../../support/core.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'
import { ofFilesOnly, testMode } from '../../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord } from '../../support/traces.ts'
import { until } from '../../support/until.ts'
import { putCalls, said } from '../put-calls.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '1000' } })

async function idsOf({ services }: TestService, projectId: number, text: string): Promise<string[]> {
  return (await services.calls.rows(projectId, { text })).data.map(({ id }) => id)
}

/** By which write each call's words came in, of those that have any. */
async function originsOf(projectId: number): Promise<Record<string, number>> {
  await service.services.wordBacklog.finish()
  const rows = await service.services.database.read.all<{ id: string; origin: number }>(sql`
    select calls.id, origin from calls join ${segmentTable('call', 0)}_docsize as indexed on indexed.id = calls.seq
    where project_id = ${projectId}`)
  return Object.fromEntries(rows.map(({ id, origin }) => [id, origin]))
}

async function callsBehind({ services }: TestService): Promise<number> {
  const [row] = await services.database.read.all<{ n: number }>(
    sql`select count(*) as n from calls_without_words`,
  )
  return row?.n ?? -1
}

async function untilErased({ services }: TestService): Promise<void> {
  const deadline = performance.now() + 15_000
  for (;;) {
    const open = await services.database.read.all(sql`select 1 from erasures where done_at is null`)
    if (open.length === 0) return
    if (performance.now() > deadline) throw new Error('The erasures were not done')
    await Bun.sleep(20)
  }
}

describe("a call's words", () => {
  test('are left alone by a change of anything else', async () => {
    const { projectId } = await service.mintProject()
    const call = { id: 'a', summary: 'pears', ...said('apples') }
    await putCalls(service.services, projectId, [call])
    const before = await originsOf(projectId)
    expect(Object.keys(before)).toEqual(['a'])
    await putCalls(service.services, projectId, [{ id: 'a', status: 'completed', duration: 5 }])
    await putCalls(service.services, projectId, [{ ...call, evaluation: 'success', metadata: { a: 1 } }])
    expect(await originsOf(projectId)).toEqual(before)
    await putCalls(service.services, projectId, [{ id: 'a', summary: 'plums' }])
    expect(await originsOf(projectId)).not.toEqual(before)
  })

  test('are none of a call that says nothing', async () => {
    const { projectId } = await service.mintProject()
    await putCalls(service.services, projectId, [{ id: 'a', duration: 5 }])
    expect(await originsOf(projectId)).toEqual({})
  })

  test('come in with many others in one go, new and changed, in any order of their numbers', async () => {
    const { projectId } = await service.mintProject()
    const calls = Array.from({ length: 60 }, (_, n) => ({ id: `c${n}`, ...said(`first${n}`) }))
    await putCalls(service.services, projectId, calls)
    const changed = calls
      .filter((_, n) => n % 2 === 0)
      .reverse()
      .map(({ id }) => ({ id, ...said(`second${id}`) }))
    const fresh = Array.from({ length: 20 }, (_, n) => ({ id: `new${n}`, ...said(`first${n * 2}`) }))
    await putCalls(service.services, projectId, [...changed, ...fresh])
    for (let n = 0; n < 60; n++) {
      const expected = n % 2 === 0 ? (n < 40 ? [`new${n / 2}`] : []) : [`c${n}`]
      expect([n, await idsOf(service, projectId, `first${n} first${n}`)]).toEqual([
        n,
        n < 6 ? expect.arrayContaining(expected) : expected,
      ])
      if (n % 2 === 0) expect(await idsOf(service, projectId, `secondc${n}`)).toContain(`c${n}`)
    }
    // A row of its own for each would be as many parts of the index.
    expect(new Set(Object.values(await originsOf(projectId))).size).toBeLessThan(10)
  })

  test('of a long call that goes on are indexed now and then, not at every turn', async () => {
    const { projectId } = await service.mintProject()
    const turn = (n: number) => ({ role: 'user' as const, content: `turn${n} ${'and so on '.repeat(20)}` })
    await putCalls(service.services, projectId, [
      { id: 'long', transcript: Array.from({ length: 500 }, (_, n) => turn(n)) },
    ])
    await service.services.wordBacklog.finish()
    expect(await idsOf(service, projectId, 'turn499')).toEqual(['long'])
    const before = await originsOf(projectId)
    for (let n = 500; n < 520; n++)
      await putCalls(service.services, projectId, [
        { id: 'long', appendTranscript: { at: n, turns: [turn(n)] } },
      ])
    await putCalls(service.services, projectId, [{ id: 'long', status: 'completed' }])
    await service.services.wordBacklog.finish()
    expect(await callsBehind(service)).toBe(0)
    expect(await idsOf(service, projectId, 'turn519 turn0')).toEqual(['long'])
    const [first, last] = [before.long ?? 0, (await originsOf(projectId)).long ?? 0]
    expect(last - first).toBeGreaterThan(0)
    expect(last - first).toBeLessThan(10)
  })

  test('of a long call that changes all the time are indexed once in a run, and by the next again', async () => {
    const own = await startService()
    const { database } = own.services
    await own.services.core.jobs.stop('words')
    const { projectId } = await own.mintProject()
    const turn = (n: number) => ({ role: 'user' as const, content: `turn${n} ${'and so on '.repeat(20)}` })
    let turns = 500
    await putCalls(own.services, projectId, [
      { id: 'long', transcript: Array.from({ length: turns }, (_, n) => turn(n)) },
    ])
    const goOn = async () => {
      const at = turns++
      await putCalls(own.services, projectId, [{ id: 'long', appendTranscript: { at, turns: [turn(at)] } }])
    }
    let batches = 0
    const write: WriteDatabase = Object.create(database.write, {
      batch: {
        async value(statements: Parameters<WriteDatabase['batch']>[0]) {
          const results = await database.write.batch(statements)
          if (++batches <= 10) await goOn()
          return results
        },
      },
    })
    const core = coreLike(own.services.core, { write })
    const backlog = new WordBacklog(core)
    await goOn()
    for (let run = 1; run <= 3; run++) {
      await backlog.finish()
      expect(batches).toBe(run)
      expect(await idsOf(own, projectId, `turn${turns - 2}`)).toEqual(['long'])
    }
    await core.jobs.close()
    await own.stop()
  })

  test('of a call that changes while they are cut are left to the next run', async () => {
    const own = await startService()
    const { database } = own.services
    await own.services.core.jobs.stop('words')
    const { projectId } = await own.mintProject()
    const long = said(...Array.from({ length: 500 }, (_, n) => `word${n} ${'and so on '.repeat(20)}`))
    await putCalls(own.services, projectId, [{ id: 'changing', ...long }])
    let batches = 0
    const write: WriteDatabase = Object.create(database.write, {
      batch: {
        async value(statements: Parameters<WriteDatabase['batch']>[0]) {
          if (++batches < 10) await putCalls(own.services, projectId, [{ id: 'changing', duration: batches }])
          return await database.write.batch(statements)
        },
      },
    })
    const core = coreLike(own.services.core, { write })
    const backlog = new WordBacklog(core)
    await backlog.finish()
    expect(batches).toBe(1)
    expect(await callsBehind(own)).toBe(1)
    batches = 10
    await backlog.finish()
    expect(await idsOf(own, projectId, 'word499')).toEqual(['changing'])
    await core.jobs.close()
    await own.stop()
  })

  test('of a long new call are cut while others have their turn', async () => {
    const own = await startService()
    const { database } = own.services
    await own.services.core.jobs.stop('words')
    const { projectId } = await own.mintProject()
    await putCalls(own.services, projectId, [
      { id: 'long', ...said(...Array.from({ length: 8_000 }, (_, n) => `word${n} and so on`)) },
    ])
    expect(await idsOf(own, projectId, 'word7999')).toEqual([])
    let turnsOfOthers = 0
    let isOver = false
    const others = (async () => {
      for (; !isOver; turnsOfOthers++) await setImmediate()
    })()
    const turnsBefore: number[] = []
    const write: WriteDatabase = Object.create(database.write, {
      batch: {
        value(statements: Parameters<WriteDatabase['batch']>[0]) {
          turnsBefore.push(turnsOfOthers)
          return database.write.batch(statements)
        },
      },
    })
    const core = coreLike(own.services.core, { write })
    const backlog = new WordBacklog(core)
    await backlog.finish()
    isOver = true
    await others
    expect(turnsBefore).toEqual([expect.any(Number)])
    expect(turnsBefore[0]).toBeGreaterThan(0)
    expect(await idsOf(own, projectId, 'word7999')).toEqual(['long'])
    await core.jobs.close()
    await own.stop()
  })

  test('are bounded, whatever a call says', () => {
    const { transcript = [] } = said(...Array.from({ length: 400_000 }, (_, n) => `w${n}`))
    const words = new CallWords().of({ summary: null, callerNumber: null, calledNumber: null, transcript })
    expect(words).toStartWith(' w0 w1 w2 ')
    expect(words.length).toBeGreaterThan(1_000_000)
    expect(words.length).toBeLessThan(1_000_200)
  })

  test('of a long call that was shortened or deleted meanwhile are what they are then', async () => {
    const { projectId } = await service.mintProject()
    const long = said(...Array.from({ length: 8_000 }, (_, n) => `word${n} and so on`))
    await putCalls(
      service.services,
      projectId,
      ['a', 'b', 'c'].map((id) => ({ id, ...said('short') })),
    )
    await putCalls(
      service.services,
      projectId,
      ['a', 'b', 'c'].map((id) => ({ id, ...long })),
    )
    await putCalls(service.services, projectId, [{ id: 'a', ...said('shorter') }])
    await service.services.calls.delete(projectId, 'b')
    await service.services.wordBacklog.finish()
    expect(await idsOf(service, projectId, 'word7999')).toEqual(['c'])
    expect(await idsOf(service, projectId, 'shorter')).toEqual(['a'])
    expect(await idsOf(service, projectId, 'short')).toEqual(['a'])
  })

  test('are searched for after a segment that they were in is dropped', async () => {
    const own = await startService()
    const { projectId } = await own.mintProject()
    const { wordBacklog, database } = own.services
    await putCalls(own.services, projectId, [{ id: 'a', ...said('apples') }])
    await wordBacklog.finish()
    for (let again = 0; again < 2; again++) expect(await idsOf(own, projectId, 'apples')).toEqual(['a'])
    const gone = ['calls', 'call_segments', 'word_removals'].map(
      (table) => sql`delete from ${sql.raw(table)}`,
    )
    for (const statement of [...gone, ...dropSegment('call', 0)]) await database.write.run(statement)
    expect(await idsOf(own, projectId, 'apples')).toEqual([])
    await putCalls(own.services, projectId, [{ id: 'b', ...said('apples') }])
    for (let again = 0; again < 2; again++) expect(await idsOf(own, projectId, 'apples')).toEqual(['b'])
  })

  test('that a command imports are found by the service beside it', async () => {
    const { projectId } = await service.mintProject()
    const command = await openCommand(service.dataDir)
    try {
      await putCalls(command, projectId, [{ id: 'a', ...said('imported') }])
      // A command beside a replica writes to the primary.
      await until(async () => (await idsOf(service, projectId, 'imported')).length > 0)
      expect(await idsOf(service, projectId, 'imported')).toEqual(['a'])
    } finally {
      await command.close()
    }
  })
})

describe("a call's numbers", () => {
  test('are found at any moment: before they are indexed, then, and once they are others', async () => {
    const own = await startService()
    const { calls, erasureRequests } = own.services
    await own.services.core.jobs.stop('words')
    const { projectId } = await own.mintProject()
    const core = coreLike(own.services.core, { now: () => Date.now() + 600_000 })
    const backlog = new WordBacklog(core)
    const long = said(...Array.from({ length: 500 }, (_, n) => `word${n} ${'and so on '.repeat(20)}`))
    const createdAt = '2026-01-01T00:00:00.000Z'
    await putCalls(own.services, projectId, [
      { id: 'silent', createdAt, callerNumber: '+49 30 123456' },
      { id: 'said', createdAt, callerNumber: null, ...said('49 →49 x49 4930123456 ←654321') },
      { id: 'long', createdAt, ...long, calledNumber: '(49) 30-123456' },
      { id: 'parts', createdAt, ...said('one'), callerNumber: 'sip:Jo Doe"@49', calledNumber: '4930123456' },
    ])
    const turns = [{ role: 'user' as const, content: 'two' }]
    await putCalls(own.services, projectId, [{ id: 'parts', appendTranscript: { at: 1, turns } }])
    const found = async (filter: Record<string, string>) =>
      (await calls.rows(projectId, { ...filter, order: 'createdAt' })).data.map(({ id }) => id)
    const expectFound = async (expected: Record<string, string[]>) => {
      const asked = Object.keys(expected).map(async (filter) => {
        const [name = '', value = ''] = filter.split('=')
        return [filter, await found({ [name]: value })] as const
      })
      expect(Object.fromEntries(await Promise.all(asked))).toEqual(expected)
      const { number, ...erased } = { number: '+4930123456', dryRun: true }
      const { calls: count } = await erasureRequests.request(projectId, { number, ...erased })
      expect(count).toBe(new Set(['number=4930', 'number=3456'].flatMap((name) => expected[name] ?? [])).size)
    }
    const first = {
      'number=4930': ['long', 'parts', 'silent'],
      'number=3456': ['long', 'parts', 'silent'],
      'number=49': ['long', 'parts', 'silent'],
      'number=30': [],
      'callerNumber=+49 30 123456': ['silent'],
      'callerNumber=sip:Jo Doe"@49': ['parts'],
      'calledNumber=(49) 30-123456': ['long'],
      'text=49': ['said'],
    }
    await expectFound(first)
    await backlog.finish()
    expect(await callsBehind(own)).toBe(0)
    await expectFound(first)
    await putCalls(own.services, projectId, [
      { id: 'silent', callerNumber: null },
      { id: 'long', calledNumber: '+1 555 0100' },
      { id: 'parts', appendTranscript: { at: 2, turns } },
    ])
    const second = { 'number=4930': ['parts'], 'number=3456': ['parts'], 'number=15550': ['long'] }
    await expectFound(second)
    await backlog.finish()
    expect(await callsBehind(own)).toBe(0)
    await expectFound(second)
    await core.jobs.close()
    await own.stop()
  })
})

describe('the words of a deleted call', () => {
  test.skipIf(ofFilesOnly)('are in no byte of any file, nor those that it had before', async () => {
    const project = await service.mintProject()
    const { projectId } = project
    const [kept, ...gone] = Array.from({ length: 9 }, () => newWord())
    const filler = Array.from({ length: 100 }, (_, n) => ({
      id: `filler${n}`,
      ...said(`filler ${newWord()}`),
    }))
    await putCalls(service.services, projectId, filler)
    await putCalls(service.services, projectId, [{ id: 'kept', ...said(`stays ${kept}`) }])
    for (const word of gone.slice(0, 6)) {
      await putCalls(service.services, projectId, [{ id: 'gone', summary: word, ...said(`says ${word}`) }])
      await putCalls(service.services, projectId, [{ id: 'kept', duration: Math.random() }])
    }
    await putCalls(service.services, projectId, [
      { id: 'gone', ...said(...Array.from({ length: 1_500 }, () => `long ${gone[6]} and ${gone[7]}`)) },
    ])
    await service.services.wordBacklog.finish()
    const traces = gone.flatMap((word) => tracesOfWord(word))
    expect(await findTraces(service.dataDir, traces)).not.toEqual([])

    expect((await project.fetch('/v1/calls/gone', { method: 'DELETE' })).status).toBe(200)
    expect(await idsOf(service, projectId, 'long')).toEqual([])
    await untilErased(service)
    expect(await findTraces(service.dataDir, traces)).toEqual([])
    expect(await idsOf(service, projectId, kept ?? '')).toEqual(['kept'])
    expect((await findTraces(service.dataDir, tracesOfWord(kept ?? ''))).length).toBeGreaterThan(0)
  })

  test('are gone from among many, and the others are found as before', async () => {
    const project = await service.mintProject()
    const calls = Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, word: newWord() }))
    for (let start = 0; start < calls.length; start += 20) {
      const batch = calls.slice(start, start + 20).map(({ id, word }) => ({ id, ...said(`call ${word}`) }))
      await putCalls(service.services, project.projectId, batch)
    }
    const gone = calls.filter((_, n) => n % 3 === 0)
    for (const { id } of gone) await service.services.calls.delete(project.projectId, id)
    expect(await found(project, gone)).toEqual([])
    await untilErased(service)
    const traces = gone.flatMap(({ word }) => tracesOfWord(word))
    if (testMode === 'file') expect(await findTraces(service.dataDir, traces)).toEqual([])
    const kept = calls.filter((_, n) => n % 3 !== 0)
    expect(await found(project, kept)).toEqual(kept.map(({ id }) => id))
    expect((await service.services.calls.rows(project.projectId, { text: 'call' })).total).toBe(kept.length)
  })

  async function found({ projectId }: TestProject, calls: { word: string }[]): Promise<string[]> {
    const ids = []
    for (const { word } of calls) ids.push(...(await idsOf(service, projectId, word)))
    return ids
  }
})
