import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from './options.ts'
import { type Running, runCommand, startService } from './processes.ts'
import { createRandom } from './random.ts'
import { median } from './rounds.ts'
import { printRow } from './table.ts'

// Whether the time of an answer tells another project's record from one that does not exist. Requests for the one
// and the other in random order on one connection; printed are the medians, and how often a request for another's
// record took longer than one for none: 0.5 is a coin.

const records = 500
const warmUp = 300
const readsEach = 4_000
const deletionsEach = 1_000
/** In standard errors of the share; beyond it chance is no explanation. */
const errorsMax = 4

interface Tenant {
  key: string
  ingestKey: string
  calls: string[]
  items: string[]
  erased: string[]
}

interface Case {
  method: string
  path: string
  ids: (tenant: Tenant) => string[]
  body?: (id: string) => unknown
  timesEach: number
}

const cases: Case[] = [
  { method: 'GET', path: '/v1/calls/', ids: ({ calls }) => calls, timesEach: readsEach },
  { method: 'GET', path: '/v1/knowledge/', ids: ({ items }) => items, timesEach: readsEach },
  { method: 'GET', path: '/v1/erasures/', ids: ({ erased }) => erased, timesEach: readsEach },
  { method: 'DELETE', path: '/v1/calls/', ids: ({ calls }) => calls, timesEach: deletionsEach },
  { method: 'DELETE', path: '/v1/knowledge/', ids: ({ items }) => items, timesEach: deletionsEach },
  {
    method: 'POST',
    path: '/v1/knowledge/search',
    ids: ({ items }) => items,
    body: (id) => ({ query: 'refund window', itemIds: [id], timeoutMs: 10_000 }),
    timesEach: readsEach,
  },
]

const folder = mkdtempSync(join(tmpdir(), 'callbook-bench-'))
try {
  const service = await startService(join(repository, 'src/main.ts'), { folder })
  const [mine, theirs] = [await fill(service, folder, 'mine'), await fill(service, folder, 'theirs')]
  for (const measured of cases) await measure(service, measured, { mine, theirs })
  await service.stop()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function fill({ url }: Running, dataDir: string, name: string): Promise<Tenant> {
  const command = async (...args: string[]) =>
    JSON.parse(
      await runCommand([join(repository, 'scripts/callbook.ts'), ...args, '--json'], { DATA_DIR: dataDir }),
    )
  const { id: project } = await command('project', 'create', name)
  const makeKey = async (kind: string) =>
    String((await command('key', 'create', '--project', project, '--name', kind, '--kind', kind)).key)
  const [key, ingestKey] = [await makeKey('live'), await makeKey('ingest')]
  const tenant: Tenant = { key, ingestKey, calls: [], items: [], erased: [] }
  for (let n = 0; n < records; n++) {
    for (const id of [`${name}-call-${n}`, `${name}-gone-${n}`]) {
      await answered(url, {
        method: 'PUT',
        path: `/ingest/calls/${id}`,
        key: ingestKey,
        body: { summary: 'Refund.' },
      })
    }
    await answered(url, { method: 'DELETE', path: `/v1/calls/${name}-gone-${n}`, key })
    const text = `Item ${n} is about the refund window of order ${n * 7}.`
    const made = await answered(url, {
      method: 'POST',
      path: '/v1/knowledge',
      key,
      body: { name: `${n}`, text },
    })
    tenant.calls.push(`${name}-call-${n}`)
    tenant.erased.push(`${name}-gone-${n}`)
    tenant.items.push(String(JSON.parse(made).id))
  }
  return tenant
}

async function measure(
  { url }: Running,
  { method, path, ids, body, timesEach }: Case,
  { mine, theirs }: { mine: Tenant; theirs: Tenant },
): Promise<void> {
  const random = createRandom(1)
  const times = { foreign: [] as number[], missing: [] as number[] }
  const answers = { foreign: new Set<number>(), missing: new Set<number>() }
  const existing = ids(theirs)
  for (let n = -warmUp; times.foreign.length < timesEach || times.missing.length < timesEach; n++) {
    const kind = random() < 0.5 ? 'foreign' : 'missing'
    const id = existing[Math.floor(random() * existing.length)] ?? ''
    const asked = kind === 'foreign' ? id : `${id.slice(0, -3)}zzz`
    const request = {
      method,
      path: body ? path : path + asked,
      key: mine.key,
      ...(body ? { body: body(asked) } : {}),
    }
    const from = performance.now()
    const status = await statusOf(url, request)
    const tookMs = performance.now() - from
    answers[kind].add(status)
    if (n >= 0) times[kind].push(tookMs)
  }
  if ([...answers.foreign].join() !== [...answers.missing].join())
    throw new Error('The answers differ by status')
  const [foreignMs, missingMs] = [median(times.foreign), median(times.missing)]
  const { share, error } = shareOfLonger(times.foreign, times.missing)
  const differenceUs = (foreignMs - missingMs) * 1_000
  printRow({
    what: `${method} ${path}${body ? '' : ':id'} of another project, and of none`,
    measured:
      `medians ${foreignMs.toFixed(3)} and ${missingMs.toFixed(3)} ms, ${differenceUs.toFixed(1)} us apart; ` +
      `longer in ${share.toFixed(4)} ± ${error.toFixed(4)} of ${times.foreign.length} and ${times.missing.length}`,
    target: `0.5 ± ${(errorsMax * error).toFixed(3)}`,
    isMet: Math.abs(share - 0.5) <= errorsMax * error,
  })
}

/**
 * How often a value of the one is above one of the other, and the standard error of that when both are alike: the
 * U statistic of Mann and Whitney (1947), which outliers do not move.
 */
function shareOfLonger(ones: number[], others: number[]): { share: number; error: number } {
  const all = [
    ...ones.map((value) => ({ value, isOne: true })),
    ...others.map((value) => ({ value, isOne: false })),
  ]
  all.sort((a, b) => a.value - b.value)
  const ranks = all.reduce((sum, { isOne }, at) => sum + (isOne ? at + 1 : 0), 0)
  const pairs = ones.length * others.length
  const share = (ranks - (ones.length * (ones.length + 1)) / 2) / pairs
  return { share, error: Math.sqrt((all.length + 1) / (12 * pairs)) }
}

interface Asked {
  method: string
  path: string
  key: string
  body?: unknown
}

async function statusOf(url: string, asked: Asked): Promise<number> {
  const answer = await send(url, asked)
  await answer.arrayBuffer()
  return answer.status
}

async function answered(url: string, asked: Asked): Promise<string> {
  const answer = await send(url, asked)
  if (!answer.ok) throw new Error(`${asked.method} ${asked.path} was answered ${answer.status}`)
  return await answer.text()
}

function send(url: string, { method, path, key, body }: Asked): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  return fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
}
