import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { withServices } from '../dataset.ts'
import { processOf } from '../process-use.ts'
import type { Running } from '../processes.ts'
import { createRandom } from '../random.ts'
import { send } from '../requests.ts'
import { temporaryFolder } from '../temporary.ts'
import { atMost, type Row } from './figures.ts'
import type { Options } from './runner.ts'

const projects = 100
const callsOfEach = 2_000
const daysOfEach = 7
const putsPerSecond = 20
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

interface Tenant {
  ingestKey: string
  webhook: string
}

/** What evaluating rules costs while calls of all projects come in, and how late a message is. */
export async function benchAlerts({ start }: Options): Promise<Row[]> {
  const arrivedAt = new Map<string, number>()
  const endpoint = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      const { data } = JSON.parse(body)
      if (data.alert.state === 'alert') arrivedAt.set(data.alert.name, performance.now())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  const { port } = endpoint.address() as AddressInfo
  try {
    const folder = temporaryFolder()
    const tenants = await withServices(folder, async (services) => {
      const random = createRandom(1)
      const made: Tenant[] = []
      for (let n = 0; n < projects; n++) {
        const { projectId } = await services.projects.create(`Project ${n}`)
        const key = { name: 'k', kind: 'ingest' as const, allowedIps: [], expiresAt: null }
        const { key: ingestKey } = await services.keys.create(projectId, key)
        const calls = Array.from({ length: callsOfEach }, (_, at) => ({
          id: `old-${at}`,
          change: changeOf(random, Date.now() - random() * daysOfEach * dayMs),
        }))
        await services.ingest.putAll(projectId, calls)
        const url = 'https://one.invalid/'
        const { id: webhook } = await services.webhooks.create(projectId, { url, events: ['alert.changed'] })
        for (const rule of rules)
          await services.alerts.create(projectId, { name: `Rule ${n}`, to: [{ webhook }], ...rule })
        made.push({ ingestKey, webhook })
      }
      return made
    })
    const database = new Database(`${folder}/callbook.db`)
    // Written directly, because the API refuses loopback addresses.
    database.exec(`update webhooks set url = 'http://127.0.0.1:${port}/'; update alerts set is_paused = true`)
    const service = await start(folder, { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' })
    // What a start has to do is not counted.
    await shareOf(service, tenants, quietSeconds)
    const before = await shareOf(service, tenants, quietSeconds)
    database.exec('update alerts set is_paused = false')
    const busy = await shareOf(service, tenants, seconds)
    database.exec('update alerts set is_paused = true')
    const quiet = (before + (await shareOf(service, tenants, quietSeconds))) / 2
    database.exec('update alerts set is_paused = false')
    database.close()
    const sentAt = new Map<string, number>()
    for (const [n, { ingestKey: key }] of tenants.entries()) {
      await send(service.url, {
        method: 'PUT',
        path: '/ingest/calls/late',
        key,
        body: { status: 'completed', endedReason: 'late' },
      })
      sentAt.set(`Rule ${n}`, performance.now())
    }
    while (
      arrivedAt.size < projects &&
      performance.now() < (sentAt.get('Rule 0') ?? 0) + 2 * lateSecondsMax * 1_000
    )
      await sleep(100)
    const late = [...sentAt].map(
      ([name, at]) => ((arrivedAt.get(name) ?? Number.POSITIVE_INFINITY) - at) / 1_000,
    )
    const what = `${projects * rules.length} alerts of ${projects} projects, ${putsPerSecond} calls a second`
    return [
      atMost(`${what}: of one core`, busy - quiet, shareMax, '%', `${quiet.toFixed(1)} % without alerts`),
      atMost('from a call to its message, the slowest', Math.max(...late), lateSecondsMax, 's'),
    ]
  } finally {
    endpoint.close()
    endpoint.closeAllConnections()
  }
}

/** How much of a core the service uses while calls come in, in percent. */
async function shareOf(service: Running, tenants: readonly Tenant[], during: number): Promise<number> {
  const random = createRandom(during)
  const [startedAt, before] = [performance.now(), processOf(service.pid).processorSeconds]
  for (let n = 0; performance.now() < startedAt + during * 1_000; n++) {
    const key = tenants[n % tenants.length]?.ingestKey ?? ''
    const body = changeOf(random, Date.now())
    await send(service.url, { method: 'PUT', path: `/ingest/calls/new-${Date.now()}-${n}`, key, body })
    await sleep(Math.max(0, startedAt + ((n + 1) * 1_000) / putsPerSecond - performance.now()))
  }
  const used = processOf(service.pid).processorSeconds - before
  return (100 * used * 1_000) / (performance.now() - startedAt)
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
