import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { withServices } from '../dataset.ts'
import { startEndpoint } from '../endpoint.ts'
import { createRandom } from '../random.ts'
import { send } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import { atMost, type Row } from './figures.ts'
import { type LoadRequest, measure } from './load.ts'
import type { Options } from './runner.ts'

const projects = 100
const callsOfEach = 2_000
const daysOfEach = 7
const perSecond = 20
const quietSeconds = 60
const seconds = 120
const shareMax = 2
const lateSecondsMax = 60
const dayMs = 86_400_000

/** Of each project. The last one tells how late a rule is. */
const rules = [
  { of: 'success', show: 'share', filters: { agentId: 'booking' }, windowMinutes: 60, below: { alert: 0 } },
  { of: 'calls', windowMinutes: 60, above: { alert: 1e6 } },
  { of: 'latencyMs', show: 'p95', filters: { source: 'none' }, windowMinutes: 15, above: { alert: 1e6 } },
  { of: 'duration', show: 'avg', windowMinutes: 1_440, above: { alert: 1e6 } },
  { of: 'calls', filters: { endedReason: 'late' }, windowMinutes: 10_080, above: { alert: 0 } },
]

/** What evaluating rules costs while calls of all projects come in, and how late a message is. */
export async function benchAlerts({ start }: Options): Promise<Row[]> {
  const arrivedAt = new Map<string, number>()
  const endpoint = await startEndpoint((body, _, response) => {
    const { alert } = JSON.parse(body).data
    if (alert.state === 'alert') arrivedAt.set(alert.name, performance.now())
    response.writeHead(204).end()
  })
  try {
    const folder = temporaryFolder()
    const keys = await makeTenants(folder)
    const database = new Database(`${folder}/callbook.db`)
    const pause = (isPaused: boolean) => database.exec(`update alerts set is_paused = ${isPaused}`)
    // Written directly, because the API refuses loopback addresses.
    database.exec(`update webhooks set url = '${endpoint.url}'`)
    pause(true)
    const service = await start(folder, { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' })
    const random = createRandom(2)
    const putOf = (path: string, key: string): LoadRequest => {
      const { createdAt: _, occurredAt: __, ...now } = changeOf(random, 0)
      return { method: 'PUT', path, key, body: JSON.stringify(now) }
    }
    const load = (during: number) => {
      const requests = keys.map((key) => putOf(`/ingest/calls/new-${Date.now()}-{n}`, key))
      return measure(service, { key: '', requests, connections: 4, perSecond, seconds: during })
    }
    // In percent of a core: each of so many requests a second has its part.
    const shareOf = async (during: number) => ((await load(during)).usEach * perSecond * 100) / 1e6
    // What a start has to do is not counted.
    await shareOf(quietSeconds)
    const before = await shareOf(quietSeconds)
    pause(false)
    const busy = await shareOf(seconds)
    pause(true)
    const quiet = (before + (await shareOf(quietSeconds))) / 2
    pause(false)
    database.close()
    const sentAt: number[] = []
    for (const key of keys) {
      const body = { status: 'completed', endedReason: 'late' }
      await send(service.url, { method: 'PUT', path: '/ingest/calls/late', key, body })
      sentAt.push(performance.now())
    }
    const deadline = performance.now() + 2 * lateSecondsMax * 1_000
    while (arrivedAt.size < projects && performance.now() < deadline) await sleep(100)
    const late = sentAt.map(
      (at, n) => ((arrivedAt.get(`Rule ${n}`) ?? Number.POSITIVE_INFINITY) - at) / 1_000,
    )
    const what = `${projects * rules.length} alerts of ${projects} projects, ${perSecond} calls a second`
    return [
      atMost(`${what}: of one core`, busy - quiet, shareMax, '%', `${quiet.toFixed(1)} % without alerts`),
      atMost('from a call to its message, the slowest', Math.max(...late), lateSecondsMax, 's'),
    ]
  } finally {
    endpoint.close()
  }
}

/** Projects with calls, a webhook and the rules. Returns their ingest keys. */
async function makeTenants(folder: string): Promise<string[]> {
  return await withServices(folder, async ({ projects: all, keys, ingest, webhooks, alerts }) => {
    const random = createRandom(1)
    const made: string[] = []
    for (let n = 0; n < projects; n++) {
      const { projectId } = await all.create(`Project ${n}`)
      const key = { name: 'k', kind: 'ingest' as const, allowedIps: [], expiresAt: null }
      made.push((await keys.create(projectId, key)).key)
      const calls = Array.from({ length: callsOfEach }, (_, at) => ({
        id: `old-${at}`,
        change: changeOf(random, Date.now() - random() * daysOfEach * dayMs),
      }))
      await ingest.putAll(projectId, calls)
      const url = 'https://one.invalid/'
      const { id: webhook } = await webhooks.create(projectId, { url, events: ['alert.changed'] })
      for (const rule of rules)
        await alerts.create(projectId, { name: `Rule ${n}`, to: [{ webhook }], ...rule })
    }
    return made
  })
}

/** A call that was completed at this time. */
function changeOf(random: () => number, at: number) {
  return {
    status: 'completed' as const,
    createdAt: new Date(at - 60_000).toISOString(),
    occurredAt: new Date(at).toISOString(),
    duration: Math.round(random() * 300),
    evaluation: random() < 0.8 ? 'success' : 'fail',
    details: {
      agent: { id: random() < 0.5 ? 'booking' : 'front', name: null },
      latencyMs: Math.round(random() * 2_000),
    },
  }
}
