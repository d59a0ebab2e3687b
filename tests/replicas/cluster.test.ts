import { afterAll, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { freshFolder } from '../support/at-end.ts'
import { mintBeside } from '../support/beside.ts'
import { asCommand } from '../support/command.ts'
import { at, foundByVector, type Reached } from '../support/node.ts'
import { type Primary, startPrimary } from '../support/primary.ts'
import { type ServiceProcess, spawnService } from '../support/process.ts'
import { until } from '../support/until.ts'

const seed = Number(process.env.CLUSTER_SEED ?? Math.floor(Math.random() * 2 ** 31))
const random = randomOf(seed)
const clients = 6
const nodes = 3
const mixMs = 14_000
const words = [
  'parking',
  'breakfast',
  'pets',
  'refund',
  'opening',
  'hours',
  'address',
  'invoice',
  'warranty',
  'delivery',
]

/** What a client knows of a record: `open` when no answer came, or one that left it open. */
type Fate = 'there' | 'gone' | 'open'

interface Node {
  folder: string
  process: ServiceProcess
}

interface Project {
  projectId: number
  key: string
  ingestKey: string
  /** By id. */
  calls: Map<string, Fate>
  /** By id; an item whose creation was not answered has none that anybody knows. */
  items: Map<string, Fate>
}

const folders = Array.from({ length: nodes }, freshFolder)
const cluster: Node[] = []
let primary: Primary | undefined

afterAll(async () => {
  for (const node of cluster) {
    node.process.kill('SIGKILL')
    await node.process.exited
  }
  await primary?.stop()
})

test('three nodes and a primary lose nothing that was acknowledged, and converge, through kills and outages', async () => {
  console.log(`CLUSTER_SEED=${seed}`)
  const started = await startPrimary()
  primary = started
  const env = {
    DATABASE_SYNC_URL: started.url,
    DATABASE_SYNC_INTERVAL_MS: '200',
    ERASE_WITHIN_MS: '1000',
    INDEX_WAIT_MS: '500',
  }
  const spawn = async (folder: string): Promise<Node> => ({
    folder,
    process: await spawnService({ ...env, DATA_DIR: folder }),
  })
  cluster.push(...(await Promise.all(folders.map(spawn))))
  const projects = await createProjects(folders[0] ?? '', env)

  const until14 = performance.now() + mixMs
  const mix = Array.from({ length: clients }, (_, client) =>
    work(client, projects, () => performance.now() < until14),
  )
  await Bun.sleep(2_000)
  await started.signal('SIGKILL')
  await Bun.sleep(1_000)
  await started.restart()
  await Bun.sleep(1_500)
  await killAndRestart(1, spawn)
  await Bun.sleep(500)
  await killAndRestart(2, spawn, ({ folder }) => rmSync(folder, { recursive: true, force: true }))
  await started.signal('SIGSTOP')
  await Bun.sleep(1_000)
  await started.signal('SIGCONT')
  await Promise.all(mix)

  for (const project of projects) {
    await untilAlike(project)
    await expectNothingLost(project)
  }
  await untilIndexed()
  for (const project of projects) await untilSearchesAlike(project)
  // A project with few vectors is searched by its rows, so after a kill its file waits for the next change.
  for (const project of projects) await createItem(project, reach(pick(cluster), project), 'The last item')
  for (const project of projects) await untilAlike(project)
  await untilIndexed()
  // The sums of two nodes can be alike while each has yet to index another's item.
  await Bun.sleep(1_000)
  for (const node of cluster) {
    node.process.kill('SIGTERM')
    expect(await node.process.exited).toBe(0)
  }
  for (const { folder } of cluster) await expectSoundFiles(folder, env, projects)
})

/** One operation after the other, each at any of the nodes. */
async function work(client: number, projects: Project[], goesOn: () => boolean): Promise<void> {
  for (let n = 0; goesOn(); n++) {
    const project = pick(projects)
    const reached = reach(pick(cluster), project)
    const id = `call-${client}-${n}`
    const chance = random()
    if (chance < 0.35) await putCall(project, reached, id)
    else if (chance < 0.45) await remove(project.calls, reached, '/v1/calls', client)
    else if (chance < 0.65) await createItem(project, reached, `Item ${client}-${n}`)
    else if (chance < 0.75) await remove(project.items, reached, '/v1/knowledge', client)
    else await foundByVector(reached, `${pick(words)} ${pick(words)}`).catch(() => null)
    await Bun.sleep(10)
  }
}

async function putCall(project: Project, node: Reached, id: string): Promise<void> {
  project.calls.set(id, 'open')
  const status = await statusOf(node.send('PUT', `/ingest/calls/${id}`, { summary: `About ${pick(words)}` }))
  if (status !== 201) return
  project.calls.set(id, 'there')
  expect([200, null]).toContain(await statusOf(node.fetch(`/v1/calls/${id}`)))
}

async function createItem(project: Project, node: Reached, name: string): Promise<void> {
  const text = `${name} says ${pick(words)} and ${pick(words)}, and ${pick(words)} as well.`
  const answer = await node.send('POST', '/v1/knowledge', { name, text }).catch(() => null)
  if (answer?.status !== 201) return
  const item: { id: string } | null = await answer.json().catch(() => null)
  if (!item) return
  project.items.set(item.id, 'there')
  expect([200, null]).toContain(await statusOf(node.fetch(`/v1/knowledge/${item.id}`)))
}

async function remove(
  records: Map<string, Fate>,
  node: Reached,
  path: string,
  client: number,
): Promise<void> {
  const [id] =
    [...records].filter(([key, fate]) => fate === 'there' && digestOf(key) % clients === client).at(0) ?? []
  if (!id) return
  records.set(id, 'open')
  const status = await statusOf(node.fetch(`${path}/${id}`, { method: 'DELETE' }))
  if (status === 200) records.set(id, 'gone')
  // Written at another node, whose news had not come here yet.
  if (status === 404) records.set(id, 'there')
  if (status === 200) expect([404, null]).toContain(await statusOf(node.fetch(`${path}/${id}`)))
}

/** Null when no answer came: the node was killed. A primary that is away is 503. */
async function statusOf(answer: Promise<Response>): Promise<number | null> {
  try {
    const { status } = await answer
    expect([200, 201, 404, 503]).toContain(status)
    return status
  } catch (error) {
    if (error instanceof Error && 'matcherResult' in error) throw error
    return null
  }
}

async function killAndRestart(
  position: number,
  spawn: (folder: string) => Promise<Node>,
  meanwhile: (node: Node) => void = () => undefined,
): Promise<void> {
  const node = cluster[position]
  if (!node) return
  node.process.kill('SIGKILL')
  await node.process.exited
  meanwhile(node)
  cluster[position] = await spawn(node.folder)
}

async function untilAlike(project: Project): Promise<void> {
  for (const path of ['/v1/calls?limit=1000', '/v1/knowledge'])
    await until(async () => {
      const bodies = await Promise.all(
        cluster.map((node) =>
          reach(node, project)
            .fetch(path)
            .then((answer) => answer.text()),
        ),
      )
      return new Set(bodies).size === 1
    }, `${path} alike everywhere`)
}

async function expectNothingLost(project: Project): Promise<void> {
  for (const node of cluster) {
    const reached = reach(node, project)
    const calls: { data: { id: string }[] } = await (await reached.fetch('/v1/calls?limit=1000')).json()
    const items: { id: string }[] = await (await reached.fetch('/v1/knowledge')).json()
    for (const [listed, records] of [
      [calls.data, project.calls],
      [items, project.items],
    ] as const) {
      const ids = new Set(listed.map(({ id }) => id))
      const all = [...records]
      expect(all.filter(([id, fate]) => fate === 'there' && !ids.has(id))).toEqual([])
      expect(all.filter(([id, fate]) => fate === 'gone' && ids.has(id))).toEqual([])
      expect(all.some(([, fate]) => fate === 'there')).toBe(true)
    }
  }
}

/** Chunks that a killed node had taken on wait until its lease is over. */
async function untilIndexed(): Promise<void> {
  await until(async () => {
    const totals = await Promise.all(
      cluster.map(async (node) => {
        const text = await (await fetch(`${node.process.url}/metrics`)).text()
        const value = (name: string) => new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]
        return `${value('callbook_pending_chunks')} pending, ${value('callbook_index_vectors')} indexed`
      }),
    )
    return new Set(totals).size === 1 && totals[0]?.startsWith('0 pending') === true
  }, 'Embedding and indexing everything')
}

async function untilSearchesAlike(project: Project): Promise<void> {
  for (const mode of ['keyword', 'vector', 'hybrid']) {
    for (const query of words.slice(0, 5))
      await until(async () => {
        const answers = await Promise.all(
          cluster.map(async (node) => {
            const request = { query: `${query} ${words[7]}`, mode, limit: 10, timeoutMs: 5_000 }
            const answer = await reach(node, project).send('POST', '/v1/knowledge/search', request)
            const { data, mode: used }: { data: unknown; mode: string } = await answer.json()
            return JSON.stringify({ data, used })
          }),
        )
        return new Set(answers).size === 1 && answers[0]?.includes(`"used":"${mode}"`) === true
      }, `A ${mode} search for ${query} alike everywhere`)
  }
}

async function expectSoundFiles(
  folder: string,
  env: Record<string, string>,
  projects: Project[],
): Promise<void> {
  await asCommand(
    folder,
    async ({ index }) => {
      for (const { projectId } of projects) {
        const report = await index.verify(projectId)
        expect(report).toMatchObject({ problem: null, labelsWithoutRow: [], rowsNotInFile: 0 })
        expect(report.fileVectors).toBe(report.rowVectors)
        expect(report.rowVectors).toBeGreaterThan(0)
      }
    },
    env,
  )
}

async function createProjects(folder: string, env: Record<string, string>): Promise<Project[]> {
  const made = []
  for (let n = 0; n < 2; n++)
    made.push({ ...(await mintBeside(folder, env)), calls: new Map(), items: new Map() })
  for (const project of made) {
    for (const node of cluster) await until(async () => (await reach(node, project).fetch('/v1/calls')).ok)
  }
  return made
}

function reach(node: Node, project: Project): Reached {
  return at(node.process, project)
}

function pick<Value>(values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)] as Value
}

function digestOf(text: string): number {
  let digest = 0
  for (const char of text) digest = (digest * 31 + char.charCodeAt(0)) % 1_000_003
  return digest
}

/** https://en.wikipedia.org/wiki/Linear_congruential_generator, mixed. */
function randomOf(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 2_246_822_519) >>> 0
    return mixed / 2 ** 32
  }
}
