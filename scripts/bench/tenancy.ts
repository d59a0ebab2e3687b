import type { Running } from './processes.ts'
import { createProject } from './project.ts'
import { createRandom } from './random.ts'
import { bodyOf, statusOf } from './requests.ts'
import { median } from './rounds.ts'
import { type Options, runSuite } from './runner.ts'
import type { Row } from './table.ts'
import { temporaryFolder } from './temporary.ts'
import type { Texts } from './texts.ts'

const records = 500
const warmUp = 300
const readsEach = 4_000
const deletionsEach = 1_000
/** In standard errors. A larger difference is not chance. */
const errorsMax = 4

interface Tenant {
  key: string
  calls: string[]
  items: string[]
  erased: string[]
}

interface Probe {
  method: string
  path: string
  ids: (tenant: Tenant) => string[]
  body?: (id: string) => unknown
  timesEach: number
}

const probes: Probe[] = [
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

await runSuite({
  command: 'bench:tenancy',
  title: 'Tenancy',
  about:
    "whether the time of an answer tells another project's record from one that does not exist. Requests for both in " +
    "random order on one connection: the medians, and how often one for another's record took longer (0.5 is a coin).",
  cases: [{ name: 'timing', run: benchTiming }],
})

async function benchTiming(_: Texts, { main, start }: Options): Promise<Row[]> {
  const folder = temporaryFolder()
  const service = await start({ folder })
  const tenants = {
    mine: await fill(service, { main, folder, name: 'mine' }),
    theirs: await fill(service, { main, folder, name: 'theirs' }),
  }
  const rows: Row[] = []
  for (const probe of probes) rows.push(await measure(service, probe, tenants))
  return rows
}

async function fill(
  { url }: Running,
  { main, folder, name }: { main: string; folder: string; name: string },
): Promise<Tenant> {
  const project = await createProject(main, { folder, name })
  const { key } = project
  const tenant: Tenant = { key, calls: [], items: [], erased: [] }
  for (let n = 0; n < records; n++) {
    for (const id of [`${name}-call-${n}`, `${name}-gone-${n}`]) {
      await bodyOf(url, {
        method: 'PUT',
        path: `/ingest/calls/${id}`,
        key: project.ingestKey,
        body: { summary: 'Refund.' },
      })
    }
    await bodyOf(url, { method: 'DELETE', path: `/v1/calls/${name}-gone-${n}`, key })
    const text = `Item ${n} is about the refund window of order ${n * 7}.`
    const made = await bodyOf(url, {
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
  { method, path, ids, body, timesEach }: Probe,
  { mine, theirs }: { mine: Tenant; theirs: Tenant },
): Promise<Row> {
  const random = createRandom(1)
  const times = { foreign: [] as number[], missing: [] as number[] }
  const answers = { foreign: new Set<number>(), missing: new Set<number>() }
  const existing = ids(theirs)
  for (let n = -warmUp; times.foreign.length < timesEach || times.missing.length < timesEach; n++) {
    const kind = random() < 0.5 ? 'foreign' : 'missing'
    const id = existing[Math.floor(random() * existing.length)] ?? ''
    const requestedId = kind === 'foreign' ? id : `${id.slice(0, -3)}zzz`
    const request = {
      method,
      path: body ? path : path + requestedId,
      key: mine.key,
      ...(body ? { body: body(requestedId) } : {}),
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
  return {
    what: `${method} ${path}${body ? '' : ':id'} of another project, and of none`,
    measured:
      `medians ${foreignMs.toFixed(3)} and ${missingMs.toFixed(3)} ms, ${differenceUs.toFixed(1)} us apart; ` +
      `longer in ${share.toFixed(4)} ± ${error.toFixed(4)} of ${times.foreign.length} and ${times.missing.length}`,
    target: `0.5 ± ${(errorsMax * error).toFixed(3)}`,
    isMet: Math.abs(share - 0.5) <= errorsMax * error,
  }
}

/**
 * The share of pairs in which the first value is the larger one, and its standard error if both are distributed
 * alike: the U statistic of Mann and Whitney (1947), which is robust to outliers.
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
