import type { LoadRequest } from '../load.ts'
import { shuffled } from '../random.ts'
import { send } from '../requests.ts'
import type { Case, Options } from '../runner.ts'
import type { Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { type CallPeers, commonWord, rareWord } from './call-peers.ts'
import { compare } from './compare.ts'
import type { Peer, PeerRequests } from './peer.ts'
import { benchBytes, benchDelete, benchPaced, benchPut } from './writes.ts'

const readConnections = 32
const pageConnections = 8

type Ask = (requests: PeerRequests) => LoadRequest | undefined

const pages: { name: string; what: string; ask: Ask }[] = [
  { name: 'list', what: 'GET, the newest 100 calls', ask: ({ list }) => list?.() },
  {
    name: 'filter',
    what: 'GET, 100 calls by status and evaluation',
    ask: ({ filter }) => filter?.('completed', 'fail'),
  },
  {
    name: 'rare',
    what: 'GET, calls with a word that 1 in 1,000 has',
    ask: ({ word }) => word?.(rareWord),
  },
  {
    name: 'common',
    what: 'GET, 100 calls with a word that 1 in 2 has',
    ask: ({ word }) => word?.(commonWord),
  },
]

/** Requests for calls. @param filled the service and its peers, with the same calls */
export function callCases(filled: (texts: Texts, options: Options) => Promise<CallPeers>): Case[] {
  const withPeers = (run: (peers: CallPeers, options: Options) => Promise<Row[]>): Case['run'] => {
    return async (texts, options) => run(await filled(texts, options), options)
  }
  return [
    { name: 'get', run: withPeers(benchGet) },
    ...pages.map(({ name, what, ask }) => ({
      name,
      run: withPeers(({ peers }, { rounds }) => benchPage(peers, { what, ask, rounds })),
    })),
    { name: 'put', run: withPeers(benchPut) },
    { name: 'bytes', run: withPeers(benchBytes) },
    { name: 'paced', run: withPeers(benchPaced) },
    // The last one: it deletes the calls that the others read.
    { name: 'delete', run: withPeers(benchDelete) },
  ]
}

async function benchGet({ peers, calls }: CallPeers, { rounds }: Options): Promise<Row[]> {
  await checkSame(peers, ({ get }) => get?.(calls[0]?.id ?? ''))
  const ids = shuffled(calls).map(({ id }) => id)
  const comparison = {
    what: 'GET of a call by id',
    connections: readConnections,
    requests: ({ requests: { get } }: Peer) => get && ids.map(get),
    target: { peer: 'bare server', ratioMin: 0.55 },
  }
  return [await compare(peers, comparison, rounds)]
}

async function benchPage(
  peers: readonly Peer[],
  { what, ask, rounds }: { what: string; ask: Ask; rounds: number },
): Promise<Row[]> {
  await checkSame(peers, ask)
  const comparison = {
    what,
    connections: pageConnections,
    requests: ({ requests }: Peer) => {
      const request = ask(requests)
      return request && [request]
    },
    target: { peer: 'Postgres', ratioMin: 1.5 },
  }
  return [await compare(peers, comparison, rounds)]
}

/** @throws unless all answer with the same calls in the same order */
async function checkSame(peers: readonly Peer[], ask: Ask): Promise<void> {
  const answers: { name: string; ids: string }[] = []
  for (const { name, url, key, requests } of peers) {
    const request = ask(requests)
    if (!request) continue
    const answer = await send(url, { method: 'GET', path: request.path, key })
    if (!answer.ok) throw new Error(`${name} answered ${answer.status} to ${request.path}`)
    const body = await answer.json()
    const found: { id: string }[] = body.data ?? body.items ?? [body]
    answers.push({ name, ids: found.map(({ id }) => id).join() })
  }
  const other = answers.find(({ ids }) => ids !== answers[0]?.ids)
  if (other) throw new Error(`${other.name} answers with other calls than ${answers[0]?.name}`)
}
