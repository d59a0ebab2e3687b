import type { MadeCall } from '../../src/demo/made-calls.ts'
import practice from '../../src/demo/practice.json' with { type: 'json' }
import type { TestConsole, TestPerson } from '../../tests/support/console.ts'
import type { TestProject, TestService } from '../../tests/support/service.ts'
import { until } from '../../tests/support/until.ts'

const plain = { allowedIps: [], expiresAt: null }

/** A console with data for every page, and with an empty project. */
export interface FilledConsole {
  owner: TestPerson
  viewer: TestPerson
  /** The values of `:project`, `:empty`, `:call` and the like in paths. */
  addresses: Record<string, string>
}

type Ask = <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>

/**
 * @param service with the made model
 * @param callsMax how many of the newest calls of the example
 */
export async function fillConsole(
  service: TestService,
  people: TestConsole,
  callsMax = Number.POSITIVE_INFINITY,
): Promise<FilledConsole> {
  const project = await people.mintProject()
  const empty = await people.mintProject()
  const { owner } = people
  const ask: Ask = async (method, path, body) => {
    const answer = await owner.send(method, path, body)
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const of = `/projects/${project.id}`
  await ask('PATCH', of, { name: 'Lakeside Dental' })
  await ask('PATCH', `/projects/${empty.id}`, { name: 'Harbour Clinic' })
  await ask('PATCH', '/person', { name: 'Ada Lovelace' })
  const hooks = await ask<{ id: string }>('POST', `${of}/webhooks`, {
    url: 'https://example.com/hooks/callbook',
  })
  const { calls, itemId, alertId } = await service.services.demo.fill(project.projectId, {
    callsMax,
    to: [{ webhook: hooks.id }, { pagerDuty: '0123456789abcdef0123456789abcdef' }],
  })
  const isWorkedOn = ({ call }: (typeof calls)[number]) =>
    call.evaluation === 'success' && call.details?.timeline?.some(({ kind }) => kind === 'tool_call')
  const shown = calls.findLast(isWorkedOn)
  const call = shown?.id ?? ''
  await service.services.peaksBacklog.idle()
  await ask('PATCH', `${of}/calls/${call}/review`, {
    note: 'Asked for Doctor Okafor by name. Offer her first next time.',
    addLabels: ['regular', 'check-up'],
    flagTurns: [3],
  })
  await ask('POST', `${of}/holds`, { callId: calls[0]?.id ?? '', reason: 'Complaint of 3 March' })
  await ask('POST', `${of}/views`, { name: 'Failed calls', query: '?evaluation=fail', isShared: true })
  const charts = {
    'Failed share by agent, last 30 days': '?date=last-30-days&of=success&show=failed&by=agentId',
    'Median latency, last 14 days': '?date=last-14-days&of=latencyMs&show=p50&by=day',
  }
  for (const [name, query] of Object.entries(charts))
    await ask('POST', `${of}/views`, { name, query, page: 'chart', isShared: true })
  await addAlerts(ask, of)
  const { link } = await ask<{ link: string }>('POST', `${of}/invitations`, { role: 'member' })
  await analyze(project, ask, calls.slice(-40))
  await addGolden(project, owner, itemId)
  const viewer = await fillSettings(service, people, project)
  const source = await ask<{ id: string }>('POST', `${of}/sources`, { platform: 'vapi', name: 'Vapi' })
  return {
    owner,
    viewer,
    addresses: {
      project: project.id,
      empty: empty.id,
      call,
      item: itemId,
      source: source.id,
      held: calls[0]?.id ?? '',
      key: project.keyId,
      webhook: hooks.id,
      alert: alertId,
      invitation: new URL(link).hash.slice(1),
    },
  }
}

/** Two alerts more, of which one is paused. */
async function addAlerts(ask: Ask, of: string): Promise<void> {
  const add = (rule: object) => ask<{ id: string }>('POST', `${of}/alerts`, { ...rule, showOnly: true })
  await add({ name: 'The line is quiet', windowMinutes: 720, below: { alert: 1 }, repeatMinutes: 240 })
  const slow = { of: 'latencyMs', show: 'p95', windowMinutes: 60, above: { alert: 800 }, minCalls: 10 }
  const { id: paused } = await add({ name: 'Slow answers', ...slow })
  await ask('POST', `${of}/alerts/${paused}/pause`, { paused: true })
}

/** Two versions of a rubric, a run over the newest calls, and what people say of some of them. */
async function analyze(project: TestProject, ask: Ask, newest: readonly MadeCall[]): Promise<void> {
  const of = `/projects/${project.id}`
  const { rubric } = practice
  await ask('PUT', `${of}/analysis/rubric`, { ...rubric, criteria: rubric.criteria.slice(0, 2), fields: [] })
  await ask('PUT', `${of}/analysis/rubric`, { ...rubric, tokensPerMonth: 5_000_000 })
  await ask('POST', `${of}/analysis/runs`, { filters: { from: newest[0]?.call.createdAt } })
  await until(async () => {
    const { data } = await ask<{ data: { state: string }[] }>('GET', `${of}/analysis/runs`)
    return data.every(({ state }) => state === 'done')
  })
  for (const [at, { id, call }] of newest.entries()) {
    if (at % 3 === 0 || call.status === 'live') continue
    await ask('PATCH', `${of}/calls/${id}/review`, {
      evaluation: at % 4 === 0 ? 'fail' : 'success',
      criteria: { booked_or_clear_answer: at % 4 === 0 ? 'fail' : 'pass', confirmed_the_date: 'pass' },
    })
  }
}

async function addGolden(project: TestProject, owner: TestPerson, itemId: string): Promise<void> {
  await until(async () => {
    const { data } = await (await owner.fetch(`/projects/${project.id}/knowledge`)).json()
    return data.every(({ status }: { status: { state: string } }) => status.state === 'ready')
  })
  for (const query of ['Which insurance do you take?', 'Can I come in a wheelchair?'])
    await owner.send('POST', `/projects/${project.id}/questions/golden`, {
      query,
      itemId,
      keepsWordsOfCall: true,
    })
  await owner.send('POST', `/projects/${project.id}/questions/golden/run`, {})
}

async function fillSettings(
  { services }: TestService,
  people: TestConsole,
  project: TestProject,
): Promise<TestPerson> {
  const { keys } = services
  await keys.create(project.projectId, {
    ...plain,
    kind: 'live',
    name: 'Office only',
    allowedIps: ['203.0.113.0/24', '2001:db8::/32'],
    expiresAt: Date.now() + 9 * 86_400_000,
  })
  const old = await keys.create(project.projectId, { ...plain, kind: 'ingest', name: 'The agents before' })
  await keys.revoke(project.projectId, old.id)
  const member = await people.join(project, 'member')
  await member.send('PATCH', '/person', { name: 'Grace Hopper' })
  const viewer = await people.join(project, 'viewer')
  await viewer.send('PATCH', '/person', { name: 'Alan Turing' })
  return viewer
}
