import { fileURLToPath } from 'node:url'
import type { Dataset } from '../dataset.ts'
import { startProgram } from '../processes.ts'
import { shuffled } from '../random.ts'
import { type LoadRequest, measure } from './load.ts'
import { commonWord, type MadeCall, madeCalls, rareWord } from './made-calls.ts'
import { startCallbook } from './peers/callbook.ts'
import { compare, type Target } from './peers/compare.ts'
import { benchErasing } from './peers/erasing.ts'
import type { Peer, PeerRequests } from './peers/peer.ts'
import { startPocketBase } from './peers/pocketbase.ts'
import { startPostgres } from './peers/postgres.ts'
import { benchProjects } from './peers/projects.ts'
import { benchRest } from './peers/rest.ts'
import { benchVectors } from './peers/vectors.ts'
import { benchBytes, benchDelete, benchPaced, type CallPeers, newCalls } from './peers/writes.ts'
import { type Case, type Options, runSuite } from './runner.ts'

const callsPerLoad = 5_000
const loadSecondsMax = 600

/** What the service and its peers are asked in turns. */
interface Comparison {
  name: string
  what: string
  connections: number
  target: Target
  /** The requests of a round; undefined when a peer lacks them. */
  ask(requests: PeerRequests, calls: MadeCall[]): LoadRequest[] | undefined
}

const bare = { peer: 'bare server', ratioMin: 0.55 }
const postgres = { peer: 'Postgres', ratioMin: 1.5 }
const reads: Comparison[] = [
  {
    name: 'get',
    what: 'GET of a call by id',
    connections: 32,
    target: bare,
    ask: ({ get }, calls) => get && shuffled(calls).map(({ id }) => get(id)),
  },
  {
    name: 'list',
    what: 'GET, the newest 100 calls',
    connections: 8,
    target: postgres,
    ask: ({ list }) => list && [list()],
  },
  {
    name: 'filter',
    what: 'GET, 100 calls by status and evaluation',
    connections: 8,
    target: postgres,
    ask: ({ filter }) => filter && [filter('completed', 'fail')],
  },
  {
    name: 'rare',
    what: 'GET, calls with a word that 1 in 1,000 has',
    connections: 8,
    target: postgres,
    ask: ({ word }) => word && [word(rareWord)],
  },
  {
    name: 'common',
    what: 'GET, 100 calls with a word that 1 in 2 has',
    connections: 8,
    target: postgres,
    ask: ({ word }) => word && [word(commonWord)],
  },
]
const puts = [
  { connections: 1, ratioMin: 0.8 },
  { connections: 16, ratioMin: 1 },
  { connections: 64, ratioMin: 1 },
].map(
  ({ connections, ratioMin }): Comparison => ({
    name: 'put',
    what: 'PUT of a new call',
    connections,
    target: { peer: 'Postgres', ratioMin },
    ask: ({ put }, calls) => put && newCalls(put, calls),
  }),
)

let started: Promise<CallPeers> | undefined

await runSuite({
  command: 'bench:peers',
  title: 'Beside others',
  about:
    'the service and its peers in turns, in one run, with the same calls. Postgres is Debian’s with its defaults behind ' +
    '`scripts/bench/peers/postgres-server.ts`; it, PocketBase and the service sync each write before they answer. The ' +
    'time of the processor is that of the whole server, with all its processes.',
  defaults: { calls: 20_000 },
  cases: [
    ...[...Map.groupBy([...reads, ...puts], ({ name }) => name)].map(([name, those]) => ({
      name,
      run: (options: Options) => compareAll(those, options),
    })),
    ...[
      { name: 'bytes', bench: benchBytes },
      { name: 'paced', bench: benchPaced },
      // The last one: it deletes the calls that the others read.
      { name: 'delete', bench: benchDelete },
    ].map(
      ({ name, bench }): Case => ({
        name,
        run: async (options) => bench(await callPeers(options), options),
      }),
    ),
    { name: 'erase', run: benchErasing },
    { name: 'vector', run: benchVectors },
    { name: 'rest', run: benchRest },
    { name: 'projects', run: benchProjects },
  ],
  async close() {
    for (const peer of (await started)?.peers ?? []) await peer.stop()
  },
})

async function compareAll(comparisons: readonly Comparison[], options: Options) {
  const { peers, calls } = await callPeers(options)
  const rows = []
  for (const { ask, ...comparison } of comparisons) {
    const requests = (peer: Peer) => ask(peer.requests, calls)
    rows.push(await compare(peers, { ...comparison, requests }, options.rounds))
  }
  return rows
}

/** The service first, then its peers, all with the same calls. */
function callPeers({ texts, calls: count }: Options): Promise<CallPeers> {
  started ??= (async () => {
    const callbook = await startCallbook()
    const peers: Peer[] = [callbook]
    for (const start of [startPostgres, startPocketBase]) {
      const peer = await start()
      if (typeof peer === 'string') process.stderr.write(`${peer}\n`)
      else peers.push(peer)
    }
    const calls = [...madeCalls(texts, count)]
    for (const peer of peers) await fill(peer, calls)
    return { peers: [...peers, await startBare(callbook.dataset)], calls }
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
  return { ...running, name: bare.peer, key: '', requests: { get: (id) => ({ path: `/${id}` }) } }
}
