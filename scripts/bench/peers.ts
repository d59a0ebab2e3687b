import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Dataset, makeDataset } from '../dataset.ts'
import { startProgram, startService } from '../processes.ts'
import { shuffled } from '../random.ts'
import { temporaryFolder } from '../temporary.ts'
import { formatCount, type Row } from './figures.ts'
import { formatLatency, type Measured, measure } from './load.ts'
import { commonWord, type MadeCall, madeCalls, rareWord } from './made-calls.ts'
import { type Comparison, compare, judged } from './peers/compare.ts'
import { asPeer, type Peer, type PeerRequests } from './peers/peer.ts'
import { startPostgres } from './peers/postgres.ts'
import { benchRest } from './peers/rest.ts'
import { type Options, runSuite } from './runner.ts'

const callsPerLoad = 5_000
const loadSecondsMax = 600
const bodiesPerRound = 1_000
const deletion = { connections: 16, seconds: 20, target: { peer: 'Postgres', ratioMin: 0.5 } }
const erasedWithinMs = 120_000
const settleMs = 3_000
const pollMs = 50

const bareName = 'bare server'
const beats = (ratioMin: number) => ({ peer: 'Postgres', ratioMin })
const lists: [name: string, what: string, query: string][] = [
  ['list', 'GET, the newest 100 calls', ''],
  ['filter', 'GET, 100 calls by status and evaluation', '&status=completed&evaluation=fail'],
  ['rare', 'GET, calls with a word that 1 in 1,000 has', `&text=${rareWord}`],
  ['common', 'GET, 100 calls with a word that 1 in 2 has', `&text=${commonWord}`],
]
const put = { what: 'PUT of a new call', ask: newCalls }
const formatWritten = ({ writtenEach }: Measured) => `${formatCount(writtenEach / 1_000)} KB`
const formatPaced = (figures: Measured) => `${formatLatency(figures)}, ${formatCount(figures.usEach)} us`

const comparisons: Comparison<MadeCall[]>[] = [
  {
    name: 'get',
    what: 'GET of a call by id',
    connections: 32,
    target: { peer: bareName, ratioMin: 0.55 },
    ask: ({ get }, calls) => get && shuffled(calls).map(({ id }) => get(id)),
  },
  ...lists.map(([name, what, query]): Comparison<MadeCall[]> => {
    return { name, what, connections: 8, target: beats(1.5), ask: ({ list }) => list && [list(query)] }
  }),
  { name: 'put', ...put, connections: 1, target: beats(0.8) },
  { name: 'put', ...put, connections: 16, target: beats(1) },
  { name: 'put', ...put, connections: 64, target: beats(1) },
  ...[
    { connections: 1, kilobytesMax: 60 },
    { connections: 16, kilobytesMax: 27 },
  ].map((each) => ({
    name: 'bytes',
    what: 'bytes written a PUT',
    ask: newCalls,
    load: { seconds: 120, count: 2_000 },
    shows: formatWritten,
    ...each,
  })),
  {
    name: 'paced',
    what: 'PUT of a new call, 100 a second',
    ask: newCalls,
    connections: 32,
    load: { seconds: 5, perSecond: 100 },
    shows: formatPaced,
  },
]

interface CallPeers {
  /** The service first, then its peers, all with the same calls. */
  peers: Peer[]
  calls: MadeCall[]
}

let started: Promise<CallPeers> | undefined

await runSuite({
  command: 'bench:peers',
  title: 'Beside others',
  about:
    'the service and its peers in turns, in one run, with the same calls. Postgres is Debian’s with its defaults behind ' +
    '`scripts/bench/peers/postgres-server.ts`; it and the service sync each write before they answer. The bare server is one ' +
    'statement behind Bun. The time of the processor is that of the whole server, with all its processes.',
  defaults: { calls: 20_000 },
  cases: [
    ...[...Map.groupBy(comparisons, ({ name }) => name)].map(([name, those]) => ({
      name,
      run: (options: Options) => compareAll(those, options),
    })),
    // Deletes the calls that the others read.
    { name: 'delete', run: benchDelete },
    { name: 'rest', run: benchRest },
  ],
  async close() {
    for (const peer of (await started)?.peers ?? []) await peer.stop()
  },
})

async function compareAll(those: readonly Comparison<MadeCall[]>[], options: Options): Promise<Row[]> {
  const { peers, calls } = await callPeers(options)
  const rows = []
  for (const each of those) rows.push(await compare(peers, { ...each, given: calls }, options.rounds))
  return rows
}

/** PUTs of calls that nobody has written yet. */
function newCalls({ put }: PeerRequests, calls: readonly MadeCall[]) {
  const run = randomUUID()
  return put && calls.slice(0, bodiesPerRound).map(({ call }) => put(`${run}-{n}`, call))
}

function callPeers({ texts, calls: count }: Options): Promise<CallPeers> {
  started ??= (async () => {
    const dataset = await makeDataset({ folder: temporaryFolder('run') })
    const peers = [asPeer(await startService(dataset.folder), dataset)]
    const postgres = await startPostgres()
    if (typeof postgres === 'string') process.stderr.write(`${postgres}\n`)
    else peers.push(postgres)
    const calls = [...madeCalls(texts, count)]
    for (const peer of peers) await fill(peer, calls)
    return { peers: [...peers, await startBare(dataset)], calls }
  })()
  return started
}

async function fill(peer: Peer, calls: readonly MadeCall[]): Promise<void> {
  process.stderr.write(`Writing ${calls.length} calls to ${peer.name} …\n`)
  for (let from = 0; from < calls.length; from += callsPerLoad) {
    const part = calls.slice(from, from + callsPerLoad)
    const requests = part.flatMap(({ id, call }) => peer.requests.put?.(id, call) ?? [])
    const load = { key: peer.key, requests, count: requests.length, connections: 16, seconds: loadSecondsMax }
    await measure(peer, load)
  }
  peer.analyze?.()
}

/** One prepared statement on the service's own rows behind a bare server: it only reads by id. */
async function startBare({ databaseFile, projectId }: Dataset): Promise<Peer> {
  const script = fileURLToPath(new URL('peers/bare-server.ts', import.meta.url))
  const args = [script, databaseFile, String(projectId)]
  const running = await startProgram(process.execPath, args, { address: /^(http\S+)/m })
  return { ...running, name: bareName, key: '', requests: { get: (id) => ({ path: `/${id}` }) } }
}

/** Deletes of calls, until the last byte of each is gone where a server erases. */
async function benchDelete(options: Options): Promise<Row[]> {
  const { peers, calls } = await callPeers(options)
  const { connections, seconds, target } = deletion
  const able = peers.filter(({ requests }) => requests.delete)
  const ids = shuffled(calls).map(({ id }) => id)
  const rates: number[][] = []
  const texts: string[] = []
  for (const peer of able) {
    await sleep(settleMs)
    const requests = ids.flatMap((id) => peer.requests.delete?.(id) ?? [])
    const load = { key: peer.key, requests, connections, seconds, count: ids.length }
    let erased = 'not erased'
    const { perSecond, usEach, served } = await measure(peer, load, async (deleted) => {
      if (peer.isErased) erased = await untilErased(peer, ids.slice(0, deleted))
      await sleep(settleMs)
    })
    rates.push([perSecond])
    texts.push(`${formatCount(perSecond)}/s of ${formatCount(served)}, ${formatCount(usEach)} us, ${erased}`)
  }
  const what = `DELETE of a call, ${connections} clients, up to ${seconds} s`
  return [{ what, ...judged(able, { rates, texts, target }) }]
}

/** How long it took after the last answer, in words. */
async function untilErased({ isErased }: Peer, ids: readonly string[]): Promise<string> {
  const startedAt = performance.now()
  const left = ids.filter((_, n) => n % 100 === 0 || n >= ids.length - deletion.connections)
  while (performance.now() < startedAt + erasedWithinMs) {
    const [id] = left
    if (id === undefined)
      return `erased ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after the last`
    if (await isErased?.(id)) left.shift()
    else await sleep(pollMs)
  }
  throw new Error(`Calls were not erased within ${erasedWithinMs} ms`)
}
