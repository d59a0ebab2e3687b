import { expect } from 'bun:test'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import Database from 'libsql'
import { countWrongRows } from '../../../scripts/torture/rows.ts'
import { toHead } from '../../../src/calls/call-head.ts'
import { marksOf } from '../../../src/calls/review/review.ts'
import type { Call } from '../../../src/calls/schemas.ts'
import { evaluationOf, isListed, type KnownCall, newestFirst } from '../../calls/rules.ts'
import { readDays } from '../../support/days.ts'
import { until } from '../../support/until.ts'
import { chooseFilters, countsOf, dayMs, times } from './naive.ts'
import type { ChangesPage, World } from './world.ts'

interface CallsPage {
  data: Call[]
  pagination: { total: number; next: string | null }
}

const idsOf = (some: readonly KnownCall[]) => some.map(({ call }) => call.id)

/** Compares what the service answers and stores with what it must hold. */
export async function check(world: World): Promise<void> {
  await checkRows(world)
  await checkCalls(world)
  for (let left = 12; left > 0; left--) await checkSearch(world)
  await checkFigures(world)
  await checkKnowledge(world)
  await checkChanges(world)
  expect(world.service.logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
}

async function checkCalls(world: World): Promise<void> {
  const expected = newestFirst(world.calls.values())
  for (const [id, known] of world.calls) expect([id, await world.read(id)]).toEqual([id, known])
  const limit = world.chance.between(1, 20)
  const listed: Call[] = []
  for (let offset = 0; offset <= expected.length; offset += limit) {
    const page = await world.get<CallsPage>(`/v1/calls?limit=${limit}&offset=${offset}`)
    expect(page.pagination.total).toBe(expected.length)
    listed.push(...page.data)
  }
  expect(listed).toEqual(expected.map(({ call }) => call))
  for (const id of [...world.deleted].slice(-3))
    expect((await world.send('PUT', `/ingest/calls/${id}`, {})).status).toBe(410)
}

/** A list with filters, by pages, in lines, as the console shows it, and its neighbours. */
async function checkSearch(world: World): Promise<void> {
  const { chance, services, project } = world
  const filters = chooseFilters(chance)
  const isAscending = chance.happens(0.3)
  const query: Record<string, string> = isAscending ? { ...filters, order: 'createdAt' } : filters
  const values = Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, [value]]))
  const matching = newestFirst(world.calls.values()).filter((known) =>
    isListed({ ...known, isEngagementKnown: world.isEngagementKnown(known) }, values),
  )
  const expected = idsOf(isAscending ? matching.reverse() : matching)
  const asked = `?${new URLSearchParams(query)}`
  const found: string[] = []
  const limit = chance.between(1, 30)
  for (let cursor: string | null = ''; cursor !== null; ) {
    const next: string = cursor === '' ? '' : `&cursor=${cursor}`
    const page: CallsPage = await world.get(`/v1/calls${asked}&limit=${limit}&fields=id${next}`)
    expect([asked, page.pagination.total]).toEqual([asked, expected.length])
    found.push(...page.data.map(({ id }) => id))
    cursor = page.pagination.next
  }
  expect([asked, found]).toEqual([asked, expected])
  const lines = await world.fetch(`/v1/calls${asked}`, { headers: { accept: 'application/x-ndjson' } })
  const exported = (await lines.text()).split('\n').filter((line) => line !== '')
  expect([asked, exported.map((line) => JSON.parse(line).id)]).toEqual([asked, expected])
  const shown = await services.calls.rows(project.projectId, query)
  expect([asked, shown.data.map(({ id }) => id), shown.total]).toEqual([
    asked,
    expected.slice(0, shown.data.length),
    expected.length,
  ])
  const at = chance.between(0, expected.length - 1)
  const id = expected[at]
  if (id === undefined) return
  const neighbours = await services.calls.neighbours(project.projectId, id, query)
  expect([asked, neighbours]).toEqual([
    asked,
    { previous: expected[at - 1] ?? null, next: expected[at + 1] ?? null },
  ])
}

async function checkFigures(world: World): Promise<void> {
  const { chance, services, project } = world
  const all = [...world.calls.values()]
  const expected = {
    evaluation: countsOf(all.map(evaluationOf)),
    endedReason: countsOf(all.map(({ call }) => call.endedReason)),
    agentVersion: countsOf(all.map(({ details }) => details.agent?.version ?? null)),
    source: countsOf(all.map(({ details }) => details.source)),
    assignee: countsOf(all.map(({ details }) => details.review?.assignee ?? null)),
    label: countsOf(all.flatMap(({ details }) => details.review?.labels ?? [])),
    agentId: countsOf(all.map(({ details }) => details.agent?.id ?? null)),
  }
  const readFacets = async () => {
    const { agentId = [], ...others } = await services.calls.facets(project.projectId)
    return { ...others, agentId: agentId.map(({ value, calls }) => ({ value, calls })) }
  }
  // What people are shown may be some seconds old.
  await until(async () => isDeepStrictEqual(await readFacets(), expected)).catch(() => undefined)
  expect(await readFacets()).toEqual(expected)
  const [zone = '', ahead = 0] =
    chance.oneOf([['UTC', 0] as const, ['Asia/Kolkata', 5.5 * 3_600_000] as const]) ?? []
  const from = Date.parse(chance.oneOf(times) ?? '')
  const period = { from, to: from + chance.between(1, 366) * dayMs }
  const within = all.filter(({ call }) => {
    const at = Date.parse(call.createdAt)
    return at >= period.from && at < period.to
  })
  const day = (at: number) => new Date(at + ahead).toISOString().slice(0, 10)
  const data = await readDays(services, project.projectId, {
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    timeZone: zone,
  })
  const counted = data.filter(
    ({ success, fail, other, unevaluated }) => success + fail + other + unevaluated > 0,
  )
  const days = Map.groupBy(within, ({ call }) => day(Date.parse(call.createdAt)))
  expect(counted).toEqual(
    [...days]
      .map(([day, some]) => {
        const of = (value: string | null) => some.filter((one) => evaluationOf(one) === value).length
        const [success, fail, unevaluated] = [of('success'), of('fail'), of(null)]
        return { day, success, fail, other: some.length - success - fail - unevaluated, unevaluated }
      })
      .sort((a, b) => (a.day < b.day ? -1 : 1)),
  )
}

async function checkKnowledge(world: World): Promise<void> {
  const items = await world.get<{ id: string }[]>('/v1/knowledge')
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1)
  expect(items.toSorted(byId) as unknown[]).toEqual([...world.items.values()].sort(byId))
  const answer = await world.send('POST', '/v1/knowledge/search', {
    query: 'amber',
    limit: 50,
    mode: world.chance.oneOf(['keyword', 'vector']),
  })
  world.questions.push({ callId: null })
  const { data } = (await answer.json()) as { data: { itemId: string; text: string }[] }
  for (const { itemId, text } of data) {
    const [start = ''] = text.split('\n').slice(-1)
    expect([itemId, world.items.get(itemId)?.text.includes(start)]).toEqual([itemId, true])
  }
}

/** A reader from the beginning and one that has followed all the time both hold what the project holds. */
async function checkChanges(world: World): Promise<void> {
  await world.follow(world.chance.between(1, 50))
  const records = (mirror: Iterable<unknown>) => {
    const all = [...mirror] as { id: string; status?: string }[]
    const key = ({ id, status }: { id: string; status?: string }) =>
      `${status === undefined ? 'i' : 'c'} ${id}`
    return Object.fromEntries(all.map((record) => [key(record), record]))
  }
  const expected = records([...[...world.calls.values()].map(({ call }) => call), ...world.items.values()])
  expect(records(world.mirror.values())).toEqual(expected)
  const fresh = new Map<string, unknown>()
  const refs = new Set<string>()
  let [entries, after] = [0, 0]
  for (let hasMore = true; hasMore; ) {
    const page = await world.get<ChangesPage>(`/v1/changes?after=${after}&limit=40`)
    for (const { ref, call, item } of page.data) {
      if (call ?? item) fresh.set(ref, call ?? item)
      refs.add(ref)
      entries++
    }
    ;({ hasMore, next: after } = page)
  }
  expect(entries).toBe(refs.size)
  expect(entries).toBe(world.calls.size + world.items.size + world.deleted.size + world.deletedItems.size)
  expect(records(fresh.values())).toEqual(expected)
}

async function checkRows(world: World): Promise<void> {
  await world.settle()
  const database = new Database(join(world.dataDir, 'callbook.db'), { timeout: 10_000 })
  const wrong = countWrongRows(database)
  expect(Object.entries(wrong).filter(([, n]) => n > 0)).toEqual([])
  const { projectId } = world.project
  const heads = database.prepare('select * from calls where project_id = ?').all(projectId) as Record<
    string,
    unknown
  >[]
  const asked = database.prepare('select call_id from questions where project_id = ?').pluck().all(projectId)
  const acted = database
    .prepare('select action, count(*) as times from audit_events where project_id = ? group by action')
    .all(projectId) as { action: string; times: number }[]
  database.close()
  expect(heads).toHaveLength(world.calls.size)
  for (const head of heads) checkHead(world, head)
  expect(asked.toSorted()).toEqual(world.questions.map(({ callId }) => callId).toSorted())
  const times = new Map(acted.map(({ action, times }) => [action, times]))
  for (const [action, expected] of world.actions)
    expect([action, times.get(action) ?? 0]).toEqual([action, expected])
}

/** The columns that are computed from the document and the details. */
function checkHead(world: World, head: Record<string, unknown>): void {
  const { call, details } = world.calls.get(String(head.id)) as KnownCall
  const text = JSON.stringify(call)
  const wanted = toHead({
    call,
    document: text,
    details: null,
    metadata: null,
    redactions: null,
    analysis: null,
    review: marksOf(details.review),
    recording: null,
    sound: null,
    costUsd: null,
    latencyMs: null,
    source: details.source,
    agentId: details.agent?.id ?? null,
    occurredAt: null,
    createdOnArrival: false,
    engagementStated: head.engagement_stated === 1,
    derived: Number(head.derived),
    completedAt: null,
    heardAt: null,
  })
  expect(head).toMatchObject({
    id: call.id,
    created_at: Date.parse(call.createdAt),
    updated_at: wanted.updatedAt,
    status: wanted.status,
    evaluation: wanted.evaluation,
    is_engaged: wanted.isEngaged,
    duration: wanted.duration,
    caller_number: wanted.callerNumber,
    called_number: wanted.calledNumber,
    ended_reason: wanted.endedReason,
    source: wanted.source,
    agent_id: wanted.agentId,
    review: wanted.review,
    document_chars: wanted.documentChars,
    value_list: wanted.valueList,
  })
  expect(head.heard_at !== null).toBe(call.status === 'live')
  expect(head.completed_at === null).toBe(call.status === 'live')
}

/** A receiver of events knows the newest state of each record. */
export async function checkEvents(world: World): Promise<void> {
  const waiting = 'select 1 from webhook_queue where not is_sent limit 1'
  await until(async () => (await world.sql(waiting)).length === 0, 'The sending of events')
  const last = new Map(world.received.map(({ type, data }) => [data.ref, { type, data }]))
  const gone = [...last.values()].filter(({ type }) => type.endsWith('.deleted'))
  const calls = new Map([...last.values()].flatMap(({ data: { call } }) => (call ? [[call.id, call]] : [])))
  const items = new Map([...last.values()].flatMap(({ data: { item } }) => (item ? [[item.id, item]] : [])))
  expect(Object.fromEntries(calls)).toEqual(
    Object.fromEntries(
      [...world.calls].map(([id, { call }]) => [id, call as unknown as Record<string, unknown>]),
    ),
  )
  expect(Object.fromEntries(items)).toEqual(
    Object.fromEntries([...world.items].map(([id, item]) => [id, { ...item }])),
  )
  expect(gone).toHaveLength(world.deleted.size + world.deletedItems.size)
}
