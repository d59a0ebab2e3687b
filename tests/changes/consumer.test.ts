import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../support/at-end.ts'
import { mintBeside } from '../support/beside.ts'
import { at, type Reached } from '../support/node.ts'
import { repository, type ServiceProcess, spawnService } from '../support/process.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

// The program of the guide, as it stands there, against two processes that write to one folder.

const killsMin = 8
const writers = 3
/** Few, so that they are often changed again and deleted while the reader is on its way to them. */
const idsPerWriter = 40

const folder = freshFolder()
const own = freshFolder()
const copyFile = join(own, 'copy.json')

const services: ServiceProcess[] = [
  await spawnService({ DATA_DIR: folder }),
  await spawnService({ DATA_DIR: folder }),
]
const key = await mintBeside(folder)
const projects = services.map((service) => at(service, key))
const guide = readFileSync(join(repository, 'src/guide/changes.md'), 'utf8')
writeFileSync(join(own, 'copy.mjs'), /^```js\n(.*?)^```/ms.exec(guide)?.[1] ?? 'no program')
afterAll(async () => {
  for (const service of services) {
    service.kill('SIGTERM')
    await service.exited
  }
})

/** Either of the processes. */
function anyOf<Value>(values: readonly Value[]): Value {
  return values[Math.floor(Math.random() * values.length)] as Value
}

function startConsumer() {
  return Bun.spawn(['bun', 'copy.mjs'], {
    cwd: own,
    env: { PATH: process.env.PATH ?? '', CALLBOOK: anyOf(services).url, KEY: key.key },
    stdout: 'ignore',
    stderr: 'ignore',
  })
}

/** Creates, changes and deletes calls and items until it is over, and notes what was done. */
async function write(writer: number, done: Set<string>, isOver: () => boolean): Promise<void> {
  const items: string[] = []
  let generation = 0
  while (!isOver()) {
    const project = anyOf(projects)
    const act = anyOf(['put', 'put', 'put', 'append', 'delete', 'add', 'drop'])
    const id = `w${writer}-${generation}-${Math.floor(Math.random() * idsPerWriter)}`
    const answer = await acts[act]?.(project, id, items)
    if (answer?.ok) done.add(act)
    if (act === 'delete') generation += Math.random() < 0.1 ? 1 : 0
    expect([act, answer?.status]).not.toEqual([act, 500])
  }
}

type Act = (project: Reached, id: string, items: string[]) => Promise<Response | undefined>

const acts: Record<string, Act> = {
  put: (project, id) => project.send('PUT', `/ingest/calls/${id}`, { summary: crypto.randomUUID() }),
  append: (project, id) => {
    const turns = [{ role: 'user', content: crypto.randomUUID() }]
    return project.send('PUT', `/ingest/calls/${id}`, { appendTranscript: { at: 0, turns } })
  },
  delete: (project, id) => project.fetch(`/v1/calls/${id}`, { method: 'DELETE' }),
  async add(project, _, items) {
    const answer = await project.send('POST', '/v1/knowledge', { name: 'n', text: crypto.randomUUID() })
    items.push((await answer.clone().json()).id)
    return answer
  },
  async drop(project, _, items) {
    const [id] = items.splice(Math.floor(Math.random() * items.length), 1)
    return id ? await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' }) : undefined
  },
}

/** Everything that the project holds, as sorted JSON. */
async function held(): Promise<string[]> {
  const [project] = projects
  const calls = await (await project?.fetch('/v1/calls?limit=1000'))?.json()
  const items = await (await project?.fetch('/v1/knowledge'))?.json()
  return [...calls.data, ...items].map((record) => JSON.stringify(record)).sort()
}

function copied(): string[] {
  if (!existsSync(copyFile)) return []
  const { records } = JSON.parse(readFileSync(copyFile, 'utf8'))
  return Object.values(records)
    .map((record) => JSON.stringify(record))
    .sort()
}

describe.skipIf(ofFilesOnly)("the guide's program", () => {
  test('ends with what the project holds, however often it is killed while two processes write', async () => {
    let isOver = false
    const done = new Set<string>()
    const writing = Promise.all(Array.from({ length: writers }, (_, n) => write(n, done, () => isOver)))
    // It gets on between the kills, and everything is done meanwhile.
    const isEnough = () => copied().length > 0 && done.size === Object.keys(acts).length
    for (let kills = 0; kills < killsMin || !isEnough(); kills++) {
      const consumer = startConsumer()
      await Bun.sleep(150 + Math.random() * 400)
      consumer.kill('SIGKILL')
      await consumer.exited
    }
    isOver = true
    await writing

    const consumer = startConsumer()
    const expected = await held()
    expect(expected.length).toBeGreaterThan(20)
    await until(() => JSON.stringify(copied()) === JSON.stringify(expected), 'Catching up').catch(() => null)
    expect(copied()).toEqual(expected)
    // It waits now, and hears of what comes.
    await acts.put?.(anyOf(projects), 'the-last', [])
    await until(() => copied().some((record) => record.includes('"id":"the-last"')), 'Hearing of a change')
    consumer.kill('SIGKILL')
    await consumer.exited
  })

  test('finds every change in order, in small pages, while both write the same calls', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `batch-${n}`)
    const summaries = new Map<string, string>()
    let next = (await (await anyOf(projects).fetch('/v1/changes?include=none&limit=1000')).json()).next
    const readPage = async (): Promise<boolean> => {
      const page = await (await anyOf(projects).fetch(`/v1/changes?after=${next}&limit=7`)).json()
      for (const { seq, call } of page.data) {
        expect(seq).toBeGreaterThan(next)
        next = seq
        // Items of the test before may still change.
        if (call) summaries.set(call.id, call.summary)
      }
      next = page.next
      return page.hasMore
    }
    const put = (project: Reached | undefined, summary: string) =>
      Promise.all(ids.map((id) => project?.send('PUT', `/ingest/calls/${id}`, { summary })))
    let isOver = false
    const writing = Promise.all([put(projects[0], 'one'), put(projects[1], 'two')])
      .then(() => put(projects[0], 'three'))
      .finally(() => {
        isOver = true
      })
    while (!isOver) await readPage()
    await writing
    while (await readPage());
    expect(ids.map((id) => summaries.get(id))).toEqual(ids.map(() => 'three'))
  })
})
