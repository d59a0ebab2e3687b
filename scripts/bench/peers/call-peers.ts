import type { CallChange } from '../../../src/calls/schemas.ts'
import { turnsEach } from '../datasets.ts'
import { applyLoad, type LoadRequest } from '../load.ts'
import { madeCalls } from '../made-calls.ts'
import { startScript } from '../processes.ts'
import { readRows } from '../project.ts'
import type { Options } from '../runner.ts'
import type { Texts } from '../texts.ts'
import { startCallbook } from './callbook.ts'
import type { Peer } from './peer.ts'
import { startPocketBase } from './pocketbase.ts'
import { startPostgres } from './postgres.ts'

export const rareWord = 'zeppelin'
const rareEvery = 1_000
export const commonWord = 'voucher'
const commonEvery = 2
const callsPerLoad = 5_000
const loadConnections = 16
const loadSecondsMax = 600

/** The service first, then its peers, all with the same calls. */
export interface CallPeers {
  peers: Peer[]
  calls: MadeCall[]
}

export interface MadeCall {
  id: string
  call: Omit<CallChange, 'id'>
}

export async function startCallPeers(texts: Texts, { main, calls: count }: Options): Promise<CallPeers> {
  const callbook = await startCallbook(main)
  const started = [callbook, await startPostgres(), await startPocketBase()]
  const peers = started.filter((peer) => typeof peer !== 'string')
  for (const sentence of started) if (typeof sentence === 'string') process.stderr.write(`${sentence}\n`)
  const calls = Array.from(madeCalls(texts, { count, turns: turnsEach }), ({ id, change }, index) => ({
    id,
    call: toBeFound(change, index),
  }))
  for (const peer of peers) {
    process.stderr.write(`Writing ${count} calls to ${peer.name} …\n`)
    for (let from = 0; from < count; from += callsPerLoad)
      await sendAll(
        peer,
        calls.slice(from, from + callsPerLoad).flatMap(({ id, call }) => peer.requests.put?.(id, call) ?? []),
      )
  }
  for (const { analyze } of peers) analyze?.()
  return { peers: [...peers, await startBare(callbook)], calls }
}

/** Sends each request once, or `count` of them in turn. */
export async function sendAll(
  { url, key }: Peer,
  requests: LoadRequest[],
  count = requests.length,
): Promise<void> {
  const load = { url, key, requests, count, connections: loadConnections }
  await applyLoad({ ...load, seconds: loadSecondsMax })
}

/** A call whose filters and words match a known share of all. */
function toBeFound({ id: _, ...call }: CallChange, index: number): MadeCall['call'] {
  const said = [
    ...(index % commonEvery === 0 ? [commonWord] : []),
    ...(index % rareEvery === 0 ? [rareWord] : []),
  ]
  const [first, ...others] = call.transcript ?? []
  const transcript = first ? [{ ...first, content: [first.content, ...said].join(' ') }, ...others] : []
  return { ...call, transcript, status: 'completed', evaluation: index % 4 === 0 ? 'fail' : 'success' }
}

/** One prepared statement on the service's own rows behind a bare server: it only reads by id. */
async function startBare({ databaseFile }: { databaseFile: string }): Promise<Peer> {
  const [project] = readRows<{ id: number }>(databaseFile, 'select id from projects')
  const running = await startScript('ceiling.ts', [databaseFile, String(project?.id), 'call'])
  return { ...running, name: 'bare server', key: '', requests: { get: (id) => ({ path: `/${id}` }) } }
}
