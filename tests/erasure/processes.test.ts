import { describe, expect, test } from 'bun:test'
import { freshFolder } from '../support/at-end.ts'
import { mintBeside, type ProjectBeside } from '../support/beside.ts'
import { addMarkedCall, addMarkedItem, type Marked } from '../support/marked.ts'
import { at, type Reached } from '../support/node.ts'
import { childrenOf, type ServiceProcess, spawnService } from '../support/process.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { searchTraces, untilInFiles } from '../support/traces.ts'
import { until } from '../support/until.ts'

const eraseWithinMs = 1_000
const records = 4

/** Several processes on one folder, and what kills the one of them that owns it and waits until it is gone. */
interface Processes {
  all: ServiceProcess[]
  killOwner(): unknown
}

const ways: Record<string, (folder: string) => Promise<Processes>> = {
  async 'two services on one folder'(folder) {
    const first = await spawn(folder)
    return { all: [first, await spawn(folder)], killOwner: () => first.kill('SIGKILL') }
  },
  async 'a service of two workers'(folder) {
    const service = await spawn(folder, ['--workers', '2'])
    await until(() => childrenOf(service).length === 2)
    return { all: [service], killOwner: () => killFirstChild(service) }
  },
}

async function killFirstChild(service: ServiceProcess): Promise<void> {
  const [child = 0] = childrenOf(service)
  process.kill(child, 'SIGKILL')
  // Connections that wait at its socket are reset as it ends.
  await until(() => !childrenOf(service).includes(child))
}

function spawn(folder: string, args: string[] = []): Promise<ServiceProcess> {
  return spawnService({ DATA_DIR: folder, ERASE_WITHIN_MS: String(eraseWithinMs) }, args)
}

describe.skipIf(ofFilesOnly).each(Object.keys(ways))('%s', (way) => {
  test('leave no byte of a record that one stored and another deleted, under load and after the owner is killed', async () => {
    const folder = freshFolder()
    const processes = (await ways[way]?.(folder)) ?? { all: [], killOwner: () => undefined }
    const project = await mintBeside(folder)
    const load = startLoad(processes, project)
    const kept = await addAll(processes, project, 2)
    const gone = await addAll(processes, project, records)
    await untilInFiles(folder, tracesOf(gone))

    const deletions = gone.map((record, n) => remove(processes, project, record, n))
    expect(await Promise.all(deletions)).toEqual(gone.map(() => 200))
    await until(() => areErased(processes.all[0], project, gone), 'Erasing everything')
    const afterwards = await searchTraces(folder, tracesOf(gone))
    expect(afterwards.found).toEqual([])
    expect((await load.stop()).filter((status) => status >= 400)).toEqual([])

    const killed = startLoad(processes, project)
    const more = await addAll(processes, project, records)
    await untilInFiles(folder, tracesOf(more))
    await Promise.all(more.map((record, n) => remove(processes, project, record, n)))
    await processes.killOwner()
    const survivor = processes.all.at(-1)
    await until(() => areErased(survivor, project, more), 'Erasing everything')
    const afterKill = await searchTraces(folder, tracesOf([...gone, ...more]))
    expect(afterKill.found).toEqual([])
    await killed.stop()

    for (const record of kept) {
      const answers = await Promise.all([1, 2, 3].map(() => reach(survivor, project).fetch(record.path)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    }
    const traces = tracesOf([...gone, ...more]).length
    console.info(`${way}: ${traces} traces, ${afterwards.bytes + afterKill.bytes} bytes searched`)
  })
})

/** Connections of their own go to any of the workers. */
function reach(service: ServiceProcess | undefined, project: ProjectBeside): Reached {
  const { fetch } = at(service ?? { url: '' }, project)
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('connection', 'close')
    return fetch(path, { ...init, headers })
  }
  return {
    fetch: call,
    send: (method, path, body) =>
      call(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }
}

async function addAll({ all }: Processes, project: ProjectBeside, count: number): Promise<Marked[]> {
  const made: Promise<Marked>[] = []
  for (let n = 0; n < count; n++) {
    const sender = reach(all[n % all.length], project)
    made.push(addMarkedItem(sender), addMarkedCall(sender))
  }
  return await Promise.all(made)
}

async function remove(
  { all }: Processes,
  project: ProjectBeside,
  { path }: Marked,
  n: number,
): Promise<number> {
  // At another one than it was sent to: two records were made at each in turn.
  const sender = reach(all[(Math.floor(n / 2) + 1) % all.length], project)
  const { status } = await sender.fetch(path, { method: 'DELETE' })
  return status
}

async function areErased(
  service: ServiceProcess | undefined,
  project: ProjectBeside,
  records: Marked[],
): Promise<boolean> {
  for (const { id } of records) {
    const answer = await reach(service, project)
      .fetch(`/v1/erasures/${id}`)
      .catch(() => null)
    if (!answer?.ok || (await answer.json()).status !== 'done') return false
  }
  return true
}

function tracesOf(records: Marked[]) {
  return records.flatMap(({ traces }) => traces)
}

/** Writes, reads, searches and deletions at every process; gives the statuses that they were answered with. */
function startLoad({ all }: Processes, project: ProjectBeside) {
  let isOver = false
  const statuses: number[] = []
  const repeat = async (request: (sender: Reached, n: number) => Promise<Response>) => {
    for (let n = 0; !isOver; n++) {
      const answer = await request(reach(all[n % all.length], project), n).catch(() => null)
      await answer?.arrayBuffer().catch(() => null)
      if (answer) statuses.push(answer.status)
      // Steady rather than all that fits: what has been written is searched byte by byte.
      await Bun.sleep(100)
    }
  }
  const filler = (n: number) => Array.from({ length: 200 }, (_, word) => `word${(n * 37 + word) % 999}`)
  const work = [
    repeat((sender, n) =>
      sender.send('PUT', `/ingest/calls/load-${n % 30}`, { summary: filler(n).join(' ') }),
    ),
    repeat((sender, n) =>
      sender.send('POST', '/v1/knowledge', { name: `Load ${n}`, text: filler(n).join(' ') }),
    ),
    repeat((sender, n) => sender.send('POST', '/v1/knowledge/search', { query: `word${n % 999}` })),
    repeat((sender) => sender.fetch('/v1/calls?limit=20')),
  ]
  return {
    async stop(): Promise<number[]> {
      isOver = true
      await Promise.all(work)
      return statuses
    },
  }
}
