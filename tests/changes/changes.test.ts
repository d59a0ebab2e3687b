import { describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { CallChange } from '../../src/calls/schemas.ts'
import { Changes } from '../../src/changes/changes.ts'
import { openCommand } from '../support/command.ts'
import { expectProblem } from '../support/problem.ts'
import { planOf, recording } from '../support/query-plan.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

interface Change {
  seq: number
  type: string
  ref: string
  at: string
  call?: { id: string; summary: string | null; callAnalysis: { text: string } | null; updatedAt: string }
  item?: { id: string; name: string; createdAt: string }
}

interface Page {
  data: Change[]
  next: number
  hasMore: boolean
}

const service = await startService()

async function changesOf(project: TestProject, query = ''): Promise<Page> {
  const answer = await project.fetch(`/v1/changes?${query}`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json'])
  return await answer.json()
}

/** All changes after a position, in pages of this size. */
async function readOn(project: TestProject, after: number, limit: number): Promise<Change[]> {
  const changes: Change[] = []
  for (let next = after; ; ) {
    const page = await changesOf(project, `after=${next}&limit=${limit}`)
    changes.push(...page.data)
    expect(page.next).toBeGreaterThanOrEqual(page.data.at(-1)?.seq ?? next)
    next = page.next
    if (!page.hasMore) return changes
  }
}

async function put(project: TestProject, id: string, change: CallChange): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, change)).status).toBeLessThan(300)
}

async function addItem(project: TestProject, name: string): Promise<string> {
  return (await (await project.send('POST', '/v1/knowledge', { name, text: `About ${name}.` })).json()).id
}

async function remove(project: TestProject, path: string): Promise<void> {
  expect((await project.fetch(path, { method: 'DELETE' })).status).toBe(200)
}

function typesOf(changes: readonly Change[]): string[] {
  return changes.map(({ type }) => type)
}

describe('GET /v1/changes', () => {
  test('lists each record once, at its newest change, with its document, oldest first', async () => {
    const project = await service.mintProject()
    expect(await changesOf(project)).toEqual({ data: [], next: 0, hasMore: false })
    await put(project, 'a', { summary: 'first' })
    await put(project, 'b', {})
    const item = await addItem(project, 'prices')
    await put(project, 'a', { summary: 'second' })
    const { data, next, hasMore } = await changesOf(project)
    expect(typesOf(data)).toEqual(['call.changed', 'knowledge.changed', 'call.changed'])
    const served = async (path: string) => await (await project.fetch(path)).json()
    expect(data.map(({ call, item }) => call ?? item)).toEqual([
      await served('/v1/calls/b'),
      await served(`/v1/knowledge/${item}`),
      await served('/v1/calls/a'),
    ])
    expect(data[2]?.call?.summary).toBe('second')
    expect(data.map(({ at }) => at)).toEqual(
      data.map(({ call, item }) => call?.updatedAt ?? item?.createdAt ?? ''),
    )
    expect(new Set(data.map(({ seq }) => seq)).size).toBe(3)
    expect(data.map(({ seq }) => seq)).toEqual(data.map(({ seq }) => seq).sort((a, b) => a - b))
    expect({ next, hasMore }).toEqual({ next: data[2]?.seq ?? 0, hasMore: false })
    expect(await changesOf(project, `after=${next}`)).toEqual({ data: [], next, hasMore: false })
  })

  test('a deletion has the ref of its record, and no id', async () => {
    const project = await service.mintProject()
    await put(project, 'same-id', {})
    const item = await addItem(project, 'opening hours')
    const { data: before, next } = await changesOf(project)
    expect(before.every(({ ref }) => /^[0-9a-f]{64}$/.test(ref))).toBe(true)
    await remove(project, '/v1/calls/same-id')
    await remove(project, `/v1/knowledge/${item}`)
    const { data } = await changesOf(project, `after=${next}`)
    const keys = ['seq', 'type', 'ref', 'at']
    expect(data.map(({ type, ref }) => [type, ref])).toEqual([
      ['call.deleted', before[0]?.ref ?? ''],
      ['knowledge.deleted', before[1]?.ref ?? ''],
    ])
    expect(data.map((change) => Object.keys(change))).toEqual([keys, keys])
    expect(await changesOf(project)).toMatchObject({ data, hasMore: false })
    expect(JSON.stringify(data)).not.toContain('same-id')
  })

  test('a reader meets a record that changes and a record that goes while it reads', async () => {
    const project = await service.mintProject()
    for (const id of ['a', 'b', 'c', 'd']) await put(project, id, { summary: 'old' })
    const first = await changesOf(project, 'limit=2')
    expect([first.data.map(({ call }) => call?.id), first.hasMore]).toEqual([['a', 'b'], true])
    await put(project, 'a', { summary: 'new' })
    await put(project, 'c', { summary: 'new' })
    await remove(project, '/v1/calls/d')
    await remove(project, '/v1/calls/b')
    const rest = await readOn(project, first.next, 1)
    expect(rest.map(({ type, call }) => [type, call?.id, call?.summary])).toEqual([
      ['call.changed', 'a', 'new'],
      ['call.changed', 'c', 'new'],
      ['call.deleted', undefined, undefined],
      ['call.deleted', undefined, undefined],
    ])
    expect(rest[3]?.ref).toBe(first.data[1]?.ref ?? '')
  })

  test('calls of one write have a number each, so that pages of any size lose none', async () => {
    const project = await service.mintProject()
    const inputs = Array.from({ length: 25 }, (_, n) => ({ id: `call-${n}`, change: { summary: `${n}` } }))
    await service.services.ingest.putAll(project.projectId, inputs)
    const again = inputs.map(({ id }, n) => ({ id, change: { summary: `again ${n}` } }))
    await service.services.ingest.putAll(project.projectId, [
      ...again.slice(5, 15),
      { id: 'new', change: {} },
    ])
    const all = await readOn(project, 0, 1_000)
    expect(all).toHaveLength(26)
    expect(new Set(all.map(({ seq }) => seq)).size).toBe(26)
    expect(all.slice(15).map(({ call }) => call?.id)).toEqual([
      ...again.slice(5, 15).map(({ id }) => id),
      'new',
    ])
    for (const limit of [1, 2, 3, 7]) expect(await readOn(project, 0, limit)).toEqual(all)
  })

  test('turns that are appended are a change, and so is a call that many requests change at once', async () => {
    const project = await service.mintProject()
    await put(project, 'live', { transcript: [{ role: 'user', content: 'one' }] })
    const { next } = await changesOf(project)
    const turns = [{ role: 'assistant' as const, content: 'two' }]
    await put(project, 'live', { appendTranscript: { at: 1, turns } })
    const { data } = await changesOf(project, `after=${next}`)
    expect(data.map(({ call }) => call)).toEqual([await (await project.fetch('/v1/calls/live')).json()])
    await Promise.all(Array.from({ length: 20 }, (_, n) => put(project, 'live', { summary: `${n}` })))
    const after = await changesOf(project)
    expect(after.data.map(({ call }) => call)).toEqual([await (await project.fetch('/v1/calls/live')).json()])
  })

  test('a request that changes nothing is no change, and neither are vectors that become ready', async () => {
    const project = await service.mintProject()
    await put(project, 'a', { summary: 'said' })
    const item = await addItem(project, 'refunds')
    const before = await changesOf(project)
    await put(project, 'a', { summary: 'said' })
    await until(async () => (await service.services.knowledge.figures(project.projectId)).pendingChunks === 0)
    expect(await changesOf(project)).toEqual(before)
    expect(before.data.at(-1)?.item?.id).toBe(item)
  })

  test('numbers that were used for nothing are passed over', async () => {
    const project = await service.mintProject()
    await put(project, 'a', {})
    const { write } = service.services.database
    await write.run(sql`update projects set change_seq = change_seq + 5 where id = ${project.projectId}`)
    const { data, next } = await changesOf(project)
    expect(next).toBe((data[0]?.seq ?? 0) + 5)
    expect(await changesOf(project, `after=${next}&wait=0`)).toEqual({ data: [], next, hasMore: false })
  })

  test('include=none leaves the documents out', async () => {
    const project = await service.mintProject()
    await put(project, 'a', {})
    await addItem(project, 'hours')
    const full = await changesOf(project, 'include=call')
    const { data } = await changesOf(project, 'include=none')
    expect(data).toEqual(full.data.map(({ call, item, ...change }) => change))
    expect(full.data.map(({ call, item }) => Boolean(call ?? item))).toEqual([true, true])
  })

  test('limit is 100 unless asked for, at most 1000, and 0 says whether there is anything', async () => {
    const project = await service.mintProject()
    const inputs = Array.from({ length: 1_100 }, (_, n) => ({ id: `call-${n}`, change: {} }))
    await service.services.ingest.putAll(project.projectId, inputs)
    expect((await changesOf(project, 'include=none')).data).toHaveLength(100)
    const { data, hasMore, next } = await changesOf(project, 'include=none&limit=99999')
    expect([data.length, hasMore, next]).toEqual([1_000, true, data.at(-1)?.seq ?? 0])
    expect(await changesOf(project, 'limit=0')).toEqual({ data: [], next: 0, hasMore: true })
    expect(await changesOf(project, 'limit=0&after=1100')).toEqual({ data: [], next: 1_100, hasMore: false })
  })

  test.each([
    ['after', 'after=-1'],
    ['after', 'after='],
    ['after', 'after=1e3'],
    ['limit', 'limit=ten'],
    ['wait', 'wait=0.5'],
    ['include', 'include=item'],
    ['include', 'include='],
  ])('a bad %s is 400 and named: %s', async (field, query) => {
    const project = await service.mintProject()
    const answer = await project.fetch(`/v1/changes?${query}`)
    const problem = await expectProblem(answer, 'invalid_request')
    expect(JSON.stringify(problem)).toContain(`"field":"${field}"`)
  })

  test('of another project are not seen, and the same record has another ref there', async () => {
    const [one, two] = [await service.mintProject(), await service.mintProject()]
    await put(one, 'same', { summary: 'mine' })
    await put(two, 'same', { summary: 'theirs' })
    const [mine, theirs] = [await changesOf(one), await changesOf(two)]
    expect(mine.data.map(({ call }) => call?.summary)).toEqual(['mine'])
    expect(theirs.data.map(({ call }) => call?.summary)).toEqual(['theirs'])
    expect(mine.data[0]?.ref).not.toBe(theirs.data[0]?.ref ?? '')
  })

  test('a page heavier than one slice is whole', async () => {
    const project = await service.mintProject()
    for (let n = 0; n < 6; n++)
      await put(project, `heavy-${n}`, { callAnalysis: { text: 'x'.repeat(40_000 * n) } })
    const { data } = await changesOf(project)
    expect(data.map(({ call }) => call?.callAnalysis?.text.length)).toEqual(
      [0, 1, 2, 3, 4, 5].map((n) => 40_000 * n),
    )
  })

  test.skipIf(ofFilesOnly)('a page is found by indexes, whatever the size of the project', async () => {
    const { core, database, changeWatch: watch } = service.services
    const statements: SQL[] = []
    const read = recording(database.read, statements)
    const none = { documents: async () => new Map<number, string>() }
    const changes = new Changes(
      { ...core, store: () => ({ ...database, read }) },
      { watch, calls: none, knowledge: none },
    )
    await changes.newest(1).catch(() => undefined)
    const { sql: text } = new SQLiteSyncDialect().sqlToQuery(sql`select * from ${statements[0]} order by seq`)
    const plan = await planOf(database.file, sql.raw(text.replaceAll('?', '1')))
    expect(plan).toContain('calls USING INDEX calls_by_change (project_id=? AND change_seq>?)')
    expect(plan).toContain(
      'knowledge_items USING INDEX knowledge_items_by_change (project_id=? AND change_seq>?)',
    )
    expect(plan).toContain('erasures USING INDEX erasures_by_change (project_id=? AND change_seq>?)')
    expect(plan).not.toMatch(/SCAN (calls|knowledge_items|erasures)/)
    // Only the rows of the page are sorted.
    expect(plan.match(/TEMP B-TREE/g) ?? []).toHaveLength(1)
  })
})

describe('waiting', () => {
  test('answers as soon as something changes', async () => {
    const project = await service.mintProject()
    await put(project, 'before', {})
    const { next } = await changesOf(project)
    const waiting = changesOf(project, `after=${next}&wait=30`)
    await until(() => service.services.changeWatch.count > 0)
    await put(project, 'after', {})
    expect((await waiting).data.map(({ call }) => call?.id)).toEqual(['after'])
    expect(service.services.changeWatch.count).toBe(0)
  })

  test('answers at once when there is something already', async () => {
    const project = await service.mintProject()
    await put(project, 'before', {})
    expect((await changesOf(project, 'wait=30')).data).toHaveLength(1)
  })

  test('answers an empty page when the time is over', async () => {
    const project = await service.mintProject()
    await put(project, 'before', {})
    const { next } = await changesOf(project)
    expect(await changesOf(project, `after=${next}&wait=1`)).toEqual({ data: [], next, hasMore: false })
  })

  test('is not ended by a change of another project, nor by a number that was used for nothing', async () => {
    const [project, other] = [await service.mintProject(), await service.mintProject()]
    const waiting = changesOf(project, 'wait=30')
    await until(() => service.services.changeWatch.count > 0)
    await put(other, 'theirs', {})
    const { write } = service.services.database
    await write.run(sql`update projects set change_seq = change_seq + 1 where id = ${project.projectId}`)
    await Bun.sleep(200)
    expect(service.services.changeWatch.count).toBe(1)
    await put(project, 'mine', {})
    expect((await waiting).data.map(({ call }) => call?.id)).toEqual(['mine'])
  })

  test('sees what another process writes', async () => {
    const project = await service.mintProject()
    const waiting = changesOf(project, 'wait=30')
    await until(() => service.services.changeWatch.count > 0)
    const command = await openCommand(service.dataDir)
    await command.ingest.put(project.projectId, 'imported', {})
    await command.close()
    expect((await waiting).data.map(({ call }) => call?.id)).toEqual(['imported'])
  })

  test('is refused beyond a number of readers of one project, but not a page that is there already', async () => {
    const project = await service.mintProject()
    const leaving = new AbortController()
    const options = { withinMs: 60_000, signal: leaving.signal }
    const { changeWatch } = service.services
    const waits = Array.from({ length: 3_000 }, () => changeWatch.wait(project.projectId, 0, options))
    for (const accept of ['application/json', 'text/event-stream']) {
      const answer = await project.fetch('/v1/changes?wait=1', { headers: { accept } })
      expect(answer.headers.get('retry-after')).toBe('5')
      await expectProblem(answer, 'unavailable')
    }
    expect((await project.fetch('/v1/changes')).status).toBe(200)
    leaving.abort()
    expect(new Set(await Promise.all(waits))).toEqual(new Set([false]))
    expect(changeWatch.count).toBe(0)
  })

  test('ends with the client', async () => {
    const project = await service.mintProject()
    const leaving = new AbortController()
    const answers = Array.from({ length: 20 }, () =>
      project.fetch('/v1/changes?wait=30', { signal: leaving.signal }).catch(() => null),
    )
    await until(() => service.services.changeWatch.count === 20)
    leaving.abort()
    await Promise.all(answers)
    await until(() => service.services.changeWatch.count === 0)
  })

  test('with a key that is revoked meanwhile is 401', async () => {
    const project = await service.mintProject()
    const waiting = project.fetch('/v1/changes?wait=30')
    await until(() => service.services.changeWatch.count > 0)
    await service.services.keys.revoke(project.projectId, project.keyId)
    await put(project, 'later', {})
    await expectProblem(await waiting, 'invalid_api_key', 'Invalid API key')
  })
})
