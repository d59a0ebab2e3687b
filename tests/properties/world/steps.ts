import { expect } from 'bun:test'
import type { Call, CallChange, Turn } from '../../../src/calls/schemas.ts'
import { readSettings } from '../../../src/db/project-settings.ts'
import { merged } from '../../calls/rules.ts'
import {
  agents,
  dayMs,
  evaluations,
  isSameNumber,
  labels,
  numbers,
  reasons,
  sources,
  times,
  words,
} from './naive.ts'
import type { World } from './world.ts'

/** An action of a client. It updates what the world knows. */
type Step = (world: World) => Promise<void>

const by = { actor: { id: 'person', name: 'Ada' }, address: null }

function turn({ chance }: World, chars = 0): Turn {
  const content = [chance.oneOf(words), chance.oneOf(words), 'x'.repeat(chars)].join(' ')
  return { role: chance.happens(0.5) ? 'user' : 'assistant', content }
}

function idOf({ chance }: World): string {
  // Few ids would repeat at random; some look like members of an object.
  if (chance.happens(0.1)) return chance.oneOf(['0', '17', '__proto__', 'constructor', 'a.b:c']) ?? ''
  return `call-${chance.between(0, 150)}`
}

/** Any of a call's fields. */
function changeOf(world: World): CallChange {
  const { chance } = world
  const all: Record<string, () => unknown> = {
    status: () => chance.oneOf(['live', 'completed', 'completed']),
    evaluation: () => chance.oneOf(evaluations),
    endedReason: () => chance.oneOf(reasons),
    callerNumber: () => chance.oneOf(numbers),
    calledNumber: () => chance.oneOf(numbers),
    isEngaged: () => chance.happens(0.5),
    duration: () => chance.between(0, 60),
    summary: () => chance.oneOf([null, `${chance.oneOf(words)} me@example.com`, chance.oneOf(words)]),
    callAnalysis: () =>
      chance.oneOf([null, {}, JSON.parse('{"kind":"x","__proto__":1}'), { kind: 1 }, { kind: true }]),
    createdAt: () => chance.oneOf(times),
    updatedAt: () => chance.oneOf(times),
    occurredAt: () => chance.oneOf(times),
    details: () => ({ agent: chance.oneOf(agents) }),
    metadata: () => chance.oneOf([null, { note: 'x' }]),
    transcript: () =>
      Array.from({ length: chance.between(0, 3) }, () => turn(world, chance.happens(0.03) ? 70_000 : 0)),
  }
  const share = chance.oneOf([0.1, 0.3, 0.7]) ?? 0
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (chance.happens(share) ? [[name, value()]] : [])),
  )
}

const put: Step = async (world) => {
  const [id, change] = [idOf(world), changeOf(world)]
  const before = world.calls.get(id)?.call
  const answer = await world.send('PUT', `/ingest/calls/${id}`, change)
  world.log.push(`put ${id} ${JSON.stringify(change).slice(0, 300)} → ${answer.status}`)
  if (world.deleted.has(id)) {
    expect(answer.status).toBe(410)
    return
  }
  expect(answer.status).toBe(before ? 200 : 201)
  const call = await answer.json()
  expectMerged(world, { before, change, call })
  world.note(id, change)
  await world.learn([id])
  expect(world.calls.get(id)?.call).toEqual(call)
}

/** Checks an answer by the rules, unless the event may have come late. */
function expectMerged(
  { timed, dated, engaged, isRedacting }: World,
  { before, change, call }: { before: Call | undefined; change: CallChange; call: Call },
): void {
  if (timed.has(call.id)) return
  const { summary } = change
  const stored = isRedacting && summary ? { summary: summary.replace('me@example.com', '[email]') } : {}
  const expected = { ...merged(before, { ...change, ...stored }, dated.has(call.id)) }
  const { status, transcript = [] } = expected
  const isSaid = engaged.has(call.id) || change.isEngaged !== undefined
  if (status === 'completed' && !isSaid && transcript.length > 0)
    expected.isEngaged = transcript.some(({ role }) => role === 'user')
  expect(call).toMatchObject(expected)
}

const putLines: Step = async (world) => {
  const lines = Array.from({ length: world.chance.between(1, 60) }, () => ({
    ...changeOf(world),
    id: idOf(world),
  }))
  const answer = await world.fetch('/ingest/calls', {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  })
  world.log.push(`lines ${lines.map((line) => JSON.stringify(line).slice(0, 200)).join(' ')}`)
  const results: { id: string; status: number }[] = (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const known = new Set(world.calls.keys())
  for (const [at, { id, status }] of results.entries()) {
    expect(id).toBe(lines[at]?.id ?? '')
    expect([id, status]).toEqual([id, world.deleted.has(id) ? 410 : known.has(id) ? 200 : 201])
    if (world.deleted.has(id)) continue
    known.add(id)
    world.note(id, lines[at] ?? {})
  }
  await world.learn(lines.map(({ id }) => id))
}

const append: Step = async (world) => {
  const id = world.anyCall()
  if (id === undefined) return
  // Often enough that the document is written as a whole again.
  for (let left = world.chance.oneOf([1, 1, 3, 70]) ?? 1; left > 0; left--) {
    const before = world.calls.get(id)?.call
    const length = before?.transcript.length ?? 0
    const at = world.chance.happens(0.1) ? Math.max(0, length + world.chance.between(-2, 2)) : length
    const turns = Array.from({ length: world.chance.between(0, 2) }, () => turn(world))
    const others = world.chance.happens(0.1) ? { createdAt: times[0] ?? '' } : {}
    const change = { appendTranscript: { at, turns }, ...others }
    const goesOn = merged(before, change, true) !== null
    const answer = await world.send('PUT', `/ingest/calls/${id}`, change)
    world.log.push(`append ${id} at ${at}: ${turns.length} turns → ${answer.status}`)
    expect(answer.status).toBe(goesOn ? 200 : 409)
    if (!goesOn) continue
    const call: Call = await answer.json()
    expectMerged(world, { before, change, call })
    world.note(id, change)
    await world.learn([id])
    expect(world.calls.get(id)?.call).toEqual(call)
  }
}

const putEvent: Step = async (world) => {
  const [id, change] = [idOf(world), changeOf(world)]
  const source = world.chance.oneOf(sources) ?? ''
  world.log.push(`event ${source} ${id} ${JSON.stringify(change).slice(0, 300)}`)
  const result = world.services.ingest.putEvent(world.project.projectId, id, change, source)
  if (world.deleted.has(id))
    return expect((await result.catch((error) => error)).code).toBe('call_was_deleted')
  await result
  world.note(id, change)
  await world.learn([id])
}

const review: Step = async (world) => {
  const id = world.anyCall()
  if (id === undefined) return
  const { chance, services, project } = world
  const last = (world.calls.get(id)?.call.transcript.length ?? 0) - 1
  const change = {
    ...(chance.happens(0.4) ? { evaluation: chance.oneOf(evaluations) ?? null } : {}),
    ...(chance.happens(0.3) ? { note: chance.oneOf([null, 'a note']) ?? null } : {}),
    ...(chance.happens(0.3) ? { reviewed: chance.happens(0.5) } : {}),
    ...(chance.happens(0.3) ? { addLabels: [chance.oneOf(labels) ?? ''] } : {}),
    ...(chance.happens(0.2) ? { removeLabels: [chance.oneOf(labels) ?? ''] } : {}),
    ...(last >= 0 && chance.happens(0.3) ? { flagTurns: [chance.between(0, Math.min(3, last))] } : {}),
    ...(chance.happens(0.2) ? { unflagTurns: [chance.between(0, 3)] } : {}),
  }
  world.log.push(`review ${id} ${JSON.stringify(change)}`)
  await services.reviews.change(project.projectId, id, change, { person: { name: 'Ada' }, by })
  await world.learn([id])
}

const label: Step = async (world) => {
  const { chance, services, project } = world
  const ids = [...world.calls.keys()].filter(() => chance.happens(0.3))
  if (ids.length === 0) return
  const change = { ids, add: [chance.oneOf(labels) ?? ''], remove: [chance.oneOf(labels) ?? ''] }
  world.log.push(`label ${JSON.stringify(change)}`)
  const had = new Map(ids.map((id) => [id, new Set(world.calls.get(id)?.details.review?.labels)]))
  const given = { addLabels: change.add, removeLabels: change.remove }
  const { changed, failed } = await services.reviews.changeMany(project.projectId, ids, given, {
    person: { name: 'Ada' },
    by,
  })
  expect(failed).toEqual([])
  const isChanged = (id: string) => {
    const before = had.get(id) ?? new Set()
    const [add = '', remove = ''] = [change.add[0], change.remove[0]]
    return add === remove ? before.has(remove) : !before.has(add) || before.has(remove)
  }
  expect(changed.map(({ id }) => id).toSorted()).toEqual(ids.filter(isChanged).toSorted())
  await world.learn(ids)
}

const hold: Step = async (world) => {
  const { chance, services, project } = world
  const callId = world.anyCall()
  const number = chance.oneOf(numbers.filter((one) => one !== null && /\d/.test(one))) ?? ''
  const what = chance.happens(0.5) && callId !== undefined ? { callId } : { number }
  const { id } = await services.holds.set(project.projectId, { ...what, reason: 'a reason' })
  world.holds.set(id, what)
  world.act('hold_set')
  world.log.push(`hold ${JSON.stringify(what)}`)
}

const lift: Step = async (world) => {
  const id = world.chance.oneOf([...world.holds.keys()])
  if (id === undefined) return
  world.log.push(`lift ${JSON.stringify(world.holds.get(id))}`)
  await world.services.holds.lift(world.project.projectId, id)
  world.holds.delete(id)
  world.act('hold_lifted')
}

function isHeld(world: World, id: string): boolean {
  const known = world.calls.get(id)
  const has = [known?.call.callerNumber ?? null, known?.call.calledNumber ?? null]
  return [...world.holds.values()].some(
    ({ callId, number }) =>
      callId === id || (number !== undefined && has.some((one) => isSameNumber(one, number))),
  )
}

const remove: Step = async (world) => {
  const id = world.chance.happens(0.1) ? idOf(world) : world.anyCall()
  if (id === undefined) return
  const expected = !world.calls.has(id) ? 404 : isHeld(world, id) ? 409 : 200
  const answer = await world.send('DELETE', `/v1/calls/${id}`)
  world.log.push(`delete ${id} → ${answer.status}`)
  expect([id, answer.status]).toEqual([id, expected])
  if (expected !== 200) return
  world.gone([id])
  world.act('call_deleted')
}

const removeMany: Step = async (world) => {
  const ids = [...world.calls.keys()].filter(() => world.chance.happens(0.05))
  world.log.push(`delete all of ${ids.join(' ')}`)
  const { deleted, held } = await world.services.calls.deleteAll(world.project.projectId, [
    ...ids,
    ...ids.slice(0, 1),
  ])
  expect(held).toEqual(ids.filter((id) => isHeld(world, id)))
  expect(deleted).toEqual(ids.filter((id) => !isHeld(world, id)))
  world.gone(deleted)
  world.act('call_deleted', deleted.length)
}

/** Many requests at once, some of them about the same call. */
const together: Step = async (world) => {
  const ids = Array.from({ length: world.chance.between(2, 25) }, () => idOf(world))
  const known = new Set(world.calls.keys())
  const answers = new Map<string, string[]>()
  const deleted: string[] = []
  const doOne = async (id: string) => {
    const isDeletion = world.chance.happens(0.15)
    const change = changeOf(world)
    const answer = await (isDeletion
      ? world.send('DELETE', `/v1/calls/${id}`)
      : world.send('PUT', `/ingest/calls/${id}`, change))
    const text = await answer.text()
    world.log.push(`together ${isDeletion ? 'delete' : 'put'} ${id} → ${answer.status}`)
    if (answer.status >= 500) throw new Error(text)
    if (isDeletion && answer.ok) deleted.push(id)
    else if (answer.ok) {
      answers.set(id, [...(answers.get(id) ?? []), text])
      world.note(id, change)
    }
  }
  await Promise.all(ids.map(doOne))
  world.act('call_deleted', deleted.length)
  world.gone(deleted)
  await world.learn(ids.filter((id) => known.has(id) || answers.has(id) || world.deleted.has(id)))
  for (const id of ids) {
    const call = world.calls.get(id)?.call
    if (call && answers.has(id)) expect(answers.get(id)).toContain(JSON.stringify(call))
  }
}

const erase: Step = async (world) => {
  const { chance } = world
  const number = chance.oneOf(numbers.filter((one) => one !== null && /\d/.test(one))) ?? ''
  const ids = [...world.calls.keys(), 'nobody'].filter(() => chance.happens(0.08))
  const before = chance.oneOf(times) ?? ''
  const asked = chance.oneOf([{ number }, { ids }, { before }]) ?? {}
  if ('ids' in asked && ids.length === 0) return
  const chosen = [...world.calls].filter(([id, { call }]) =>
    'ids' in asked
      ? ids.includes(id)
      : 'before' in asked
        ? call.status === 'completed' && call.createdAt < before
        : [call.callerNumber, call.calledNumber].some((one) => isSameNumber(one, number)),
  )
  const doomed = chosen.map(([id]) => id).filter((id) => !isHeld(world, id))
  const onHold = chosen.length - doomed.length
  world.log.push(`erase ${JSON.stringify(asked)}: ${doomed.join(' ')}, ${onHold} on hold`)
  const answer = await world.send('POST', '/v1/erasures', asked)
  const { id, ...counts } = (await answer.json()) as { id: string; calls: number }
  const rest = onHold === 0 ? {} : { onHold }
  expect(counts as object).toEqual({ calls: doomed.length, ...rest, status: 'pending' })
  await world.services.erasureRequests.finish()
  const receipt = await world.get<object>(`/v1/erasures/${id}`)
  expect(receipt).toMatchObject({ status: 'done', calls: doomed.length, deleted: doomed.length, ...rest })
  world.gone(doomed)
  for (const action of ['erasure_requested', 'erasure_done']) world.act(action)
}

const retain: Step = async (world) => {
  const { services, project, chance } = world
  const retainDays = chance.between(1, 3) + Math.floor(Date.now() / dayMs) - 20_030
  const due = Date.now() - retainDays * dayMs
  const [rows] = [
    await world.sql<{ id: string; completed_at: number | null }>(
      `select id, completed_at from calls where project_id = ${project.projectId}`,
    ),
  ]
  const doomed = rows
    .filter(({ id, completed_at }) => completed_at !== null && completed_at < due && !isHeld(world, id))
    .map(({ id }) => id)
  world.log.push(`retain ${retainDays} days: ${doomed.join(' ')}`)
  await services.settings.change(project.projectId, { retainDays })
  expect(await services.retention.countDue(project.projectId, retainDays)).toBe(doomed.length)
  await services.retention.run()
  await services.settings.change(project.projectId, { retainDays: null })
  // With retention off, a run forgets that today's deletion was done.
  await services.retention.run()
  world.gone(doomed)
  world.act('settings_changed', 2)
}

const redact: Step = async (world) => {
  const { chance, services, project } = world
  const redact = chance.oneOf([[], ['email' as const]]) ?? []
  const keepNumbers = chance.oneOf(['all', 'all', 'last4', 'none'] as const) ?? 'all'
  const before = await readSettings(services.database.read, project.projectId)
  await services.settings.change(project.projectId, { redact, keepNumbers })
  const isChanged = before.keepNumbers !== keepNumbers || before.redact.join() !== redact.join()
  world.isRedacting = redact.length > 0
  if (isChanged) world.act('settings_changed')
  world.log.push(`redact ${redact.join()}, numbers ${keepNumbers}`)
}

const ask: Step = async (world) => {
  const callId = world.chance.oneOf([null, idOf(world), world.anyCall() ?? null]) ?? null
  const answer = { data: [], mode: 'keyword' as const, tookMs: 1, coverage: 0 }
  world.services.questions.add(
    { projectId: world.project.projectId, tags: [] },
    `a question of ${callId}`,
    answer,
    callId,
  )
  world.log.push(`ask in ${callId}`)
  if (callId === null || !world.deleted.has(callId)) world.questions.push({ callId })
}

const writeItem: Step = async (world) => {
  const { chance } = world
  const text = Array.from({ length: chance.between(1, 400) }, () => chance.oneOf(words)).join(' ')
  const id = chance.oneOf(['a', 'b', 'c', '__proto__'])
  const body = { name: `item ${chance.between(1, 9)}`, text: `## ${chance.oneOf(words)}\n\n${text}` }
  const known = chance.oneOf([...world.items.keys()])
  const [method, path] = chance.oneOf([
    ['POST', '/v1/knowledge'],
    ['PUT', `/v1/knowledge/${id}`],
    ...(known ? [['PATCH', `/v1/knowledge/${known}`]] : []),
  ]) as [string, string]
  const answer = await world.send(method, path, body)
  world.log.push(`${method} ${path} ${text.length} → ${answer.status}`)
  expect(answer.status).toBe(method === 'PATCH' || world.items.has(path.slice(14)) ? 200 : 201)
  const item = await answer.json()
  expect(item).toMatchObject(body)
  world.items.set(item.id, item)
  world.deletedItems.delete(item.id)
}

const removeItem: Step = async (world) => {
  const id = world.chance.oneOf([...world.items.keys()])
  if (id === undefined) return
  world.log.push(`delete item ${id}`)
  expect((await world.send('DELETE', `/v1/knowledge/${id}`)).status).toBe(200)
  world.items.delete(id)
  world.deletedItems.add(id)
}

/** Another project comes and goes, without a trace in this one. */
const otherProject: Step = async (world) => {
  const other = await world.service.mintProject()
  world.log.push(`another project ${other.projectId}`)
  for (const id of ['call-1', 'call-2'])
    expect((await other.send('PUT', `/ingest/calls/${id}`, changeOf(world))).status).toBe(201)
  if (world.chance.happens(0.7)) await world.services.projects.delete(other.projectId)
}

export const restart: Step = async (world) => {
  world.log.push('restart')
  await world.restart()
}

const weights: [Step, number][] = [
  [put, 30],
  [putLines, 4],
  [append, 14],
  [putEvent, 10],
  [review, 12],
  [label, 3],
  [hold, 2],
  [lift, 3],
  [together, 6],
  [remove, 6],
  [removeMany, 2],
  [erase, 2],
  [retain, 1],
  [redact, 2],
  [ask, 4],
  [writeItem, 5],
  [removeItem, 2],
  [otherProject, 1],
]
export const steps = weights.flatMap(([step, weight]) => new Array<Step>(weight).fill(step))
