import { type CallPeers, startCallPeers } from './peers/call-peers.ts'
import { callCases } from './peers/calls.ts'
import { benchErasing } from './peers/erasing.ts'
import { benchProjects } from './peers/projects.ts'
import { benchRest } from './peers/rest.ts'
import { benchVectors } from './peers/vectors.ts'
import { type Options, runSuite } from './runner.ts'
import type { Texts } from './texts.ts'

let callPeers: Promise<CallPeers> | undefined

await runSuite({
  command: 'bench:peers',
  title: 'Beside others',
  about:
    'the service and its peers in turns, in one run, with the same calls. Postgres is Debian’s with its defaults behind ' +
    '`scripts/bench/peers/postgres-server.ts`; it, PocketBase and the service sync each write before they answer. The ' +
    'time of the processor is that of the whole server, with all its processes.',
  defaults: { rounds: 3, calls: 20_000 },
  cases: [
    ...callCases(filled),
    { name: 'erase', run: benchErasing },
    { name: 'vector', run: benchVectors },
    { name: 'rest', run: benchRest },
    { name: 'projects', run: benchProjects },
  ],
  close,
})

function filled(texts: Texts, options: Options): Promise<CallPeers> {
  callPeers ??= startCallPeers(texts, options)
  return callPeers
}

async function close(): Promise<void> {
  for (const peer of (await callPeers)?.peers ?? []) await peer.stop()
}
