import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Running, startService } from '../processes.ts'
import { repository } from '../repository.ts'
import { ask, send } from '../requests.ts'
import { removeTemporaryFolders, temporaryFolder } from '../temporary.ts'
import { formatCount, printRow, type Row, row } from './figures.ts'
import { type LoadRequest, measure } from './load.ts'
import { callId, commonWord, madeCalls, rareWord } from './made-calls.ts'
import { findRealData } from './runner.ts'
import { setUpConsole } from './sessions.ts'
import { readTexts, type Texts } from './texts.ts'

// `bun run bench:gate [COMMIT [ROW]]`: whether reading and writing became dearer since a commit, by default the one before
// what is in the working tree; of all rows, or of those whose names have a text. Both trees run beside each other and are asked in turns, so that other load affects both. They
// share node_modules: what a package costs is not compared.

const ratioMax = 1.1
const rounds = 3
/** The warm-up has a part of a round's requests. */
const warmUpShare = 0.25
const calls = 4_000
const callsPerRequest = 500
const items = 40
const secondsMax = 60
const indexedWithinMs = 60_000

interface Tree extends Running {
  key: string
  ingestKey: string
  cookie: string
  project: string
}

interface Probe {
  what: string
  /** How many requests a round has: half a second of processor, which is told in steps of 10 ms. */
  count: number
  connections?: number
  /** The requests of a round, of which each number is another. `{n}` stands for the number of the request. */
  ask(tree: Tree, round: number): LoadRequest & { cookie?: string }
}

const list = '/v1/calls?limit=100'
const probes: Probe[] = [
  { what: 'GET of a call by id', count: 8_000, ask: () => ({ path: `/v1/calls/${callId(7)}` }) },
  { what: 'list of 100', count: 600, ask: () => ({ path: list }) },
  { what: 'list of 1,000', count: 80, ask: () => ({ path: '/v1/calls?limit=1000' }) },
  { what: 'a filter, page of 100', count: 250, ask: () => ({ path: `${list}&evaluation=fail` }) },
  { what: 'a word, page of 100', count: 150, ask: () => ({ path: `${list}&text=${commonWord}` }) },
  { what: 'PUT of a new call, one client', count: 300, ask: putOf('one') },
  { what: 'PUT of a new call, 16 clients', count: 800, connections: 16, ask: putOf('many') },
  {
    what: 'PUT that appends a turn',
    count: 400,
    ask: ({ ingestKey }, round) => ({
      method: 'PUT',
      path: `/ingest/calls/live-${round}`,
      body: `{"appendTranscript":{"at":{n},"turns":[{"role":"user","content":"Turn {n} about my ${commonWord}."}]}}`,
      key: ingestKey,
    }),
  },
  {
    what: 'DELETE of a call',
    count: 200,
    // Those that the probe above has written in the same round.
    ask: (_, round) => ({ method: 'DELETE', path: `/v1/calls/one-${round}-{n}` }),
  },
  {
    what: 'a search',
    count: 500,
    ask: () => ({
      method: 'POST',
      path: '/v1/knowledge/search',
      body: '{"query":"how long do refunds of order {n} take","timeoutMs":10000}',
    }),
  },
  {
    what: "the console's list as it is, page of 50",
    count: 200,
    ask: ({ project, cookie }) => ({ path: `/console/api/projects/${project}/calls?limit=50`, cookie }),
  },
]

process.once('exit', () => {
  removeTemporaryFolders('run')
  git('worktree', 'prune')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
process.exit((await compare(process.argv[2] ?? defaultCommit())) ? 0 : 1)

/** What is not committed is compared with the last commit, that with the one before it. */
function defaultCommit(): string {
  return git('status', '--porcelain') === '' ? 'HEAD^' : 'HEAD'
}

async function compare(commit: string): Promise<boolean> {
  const name = git('log', '-1', '--format=%h %s', commit)
  process.stdout.write(`Processor time, against ${name}\n\n`)
  const texts = readTexts(findRealData())
  const [before, now] = [await startTree(checkOut(commit), texts), await startTree(repository, texts)]
  const rows: Row[] = []
  for (const probe of probes.filter(({ what }) => what.includes(process.argv[3] ?? ''))) {
    const compared = await compareBy(probe, { before, now })
    printRow(compared)
    rows.push(compared)
  }
  await Promise.all([before.stop(), now.stop()])
  return rows.every(({ isMet }) => isMet)
}

async function compareBy(probe: Probe, trees: { before: Tree; now: Tree }): Promise<Row> {
  const usEach = { before: [] as number[], now: [] as number[] }
  // Other load only adds to what is measured, so the least is nearest to what is spent.
  const ratio = () => Math.min(...usEach.now) / Math.min(...usEach.before)
  // Round 0 warms up. What seems dearer is measured once more.
  for (let round = 0; round <= rounds || (round <= 2 * rounds && ratio() > ratioMax); round++) {
    for (const name of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)) {
      const us = await usOf(probe, trees[name], round)
      if (round > 0) usEach[name].push(us)
    }
  }
  const ratios = usEach.now.map((us, round) => us / (usEach.before[round] ?? Number.NaN))
  const spread = [Math.min(...ratios), Math.max(...ratios)].map((each) => each.toFixed(2)).join(' to ')
  const [ours, theirs] = [usEach.now, usEach.before].map((each) => formatCount(Math.min(...each)))
  const measured = `${ratio().toFixed(2)} × (${spread}); ${ours} us, before ${theirs}`
  return row(probe.what, measured, `≤ ${ratioMax} ×`, ratio() <= ratioMax)
}

async function usOf(
  { ask: requestOf, count, connections = 1 }: Probe,
  tree: Tree,
  round: number,
): Promise<number> {
  const { cookie, ...request } = requestOf(tree, round)
  const load = { key: tree.key, ...(cookie === undefined ? {} : { cookie }), requests: [request] }
  const all = round === 0 ? count * warmUpShare : count
  return (await measure(tree, { ...load, connections, count: all, seconds: secondsMax })).usEach
}

function checkOut(commit: string): string {
  const tree = join(temporaryFolder('run'), 'tree')
  git('worktree', 'add', '--detach', tree, commit)
  symlinkSync(join(repository, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

/** Starts the service of this tree on a folder of its own, and writes what is asked for by the API that both have. */
async function startTree(tree: string, texts: Texts): Promise<Tree> {
  const folder = temporaryFolder('run')
  const running = await startService(folder, {}, [], tree)
  const key = /API key +(\S+)/.exec(running.banner)?.[1] ?? ''
  const token = /setup#(\S+)/.exec(running.banner)?.[1] ?? ''
  const command = ['key', 'create', '--project', 'default', '--name', 'gate', '--kind', 'ingest', '--json']
  const created = execFileSync(process.execPath, ['scripts/callbook.ts', ...command], {
    cwd: tree,
    env: { PATH: process.env.PATH, DATA_DIR: folder, EMBEDDING_PROVIDER: 'builtin' },
    encoding: 'utf8',
  })
  const { key: ingestKey }: { key: string } = JSON.parse(created)
  const session = await setUpConsole(running.url, token)
  const started = { ...running, key, ingestKey, ...session }
  await fill(started, texts)
  return started
}

async function fill({ url, key, ingestKey }: Tree, texts: Texts): Promise<void> {
  const lines = [...madeCalls(texts, calls)].map(({ id, call }) => JSON.stringify({ ...call, id }))
  for (let from = 0; from < lines.length; from += callsPerRequest) {
    const body = lines.slice(from, from + callsPerRequest).join('\n')
    const headers = { authorization: `Bearer ${ingestKey}`, 'content-type': 'application/x-ndjson' }
    const answer = await fetch(`${url}/ingest/calls`, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`Calls were not written: ${await answer.text()}`)
    await answer.text()
  }
  for (let n = 0; n < items; n++) {
    const text = `Refunds of order ${n} take a week. Deliveries of window ${n} are on Fridays.`
    await send(url, { path: '/v1/knowledge', key, body: { name: `Item ${n}`, text } })
  }
  const deadline = performance.now() + indexedWithinMs
  const path = `/v1/calls?limit=0&text=${rareWord}`
  const wanted = Math.ceil(calls / 1_000)
  while ((await ask<{ pagination: { total: number } }>(url, { path, key })).pagination.total < wanted) {
    if (performance.now() > deadline) throw new Error('The words of calls were not indexed in time')
    await sleep(50)
  }
}

function putOf(name: string): Probe['ask'] {
  return ({ ingestKey }, round) => ({
    method: 'PUT',
    path: `/ingest/calls/${name}-${round}-{n}`,
    body: JSON.stringify({
      status: 'completed',
      duration: 60,
      transcript: Array.from({ length: 20 }, (_, n) => ({
        role: n % 2 === 0 ? 'assistant' : 'user',
        content: `Turn ${n} of call {n} about an order and its ${commonWord}.`,
      })),
    }),
    key: ingestKey,
  })
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}
