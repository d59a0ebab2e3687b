import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import Database from 'libsql'
import { type Running, runCommand } from '../processes.ts'
import { temporaryFolder } from './temporary.ts'

const postsAtOnce = 4
const indexedWithinMs = 180_000
const pollMs = 100

/** A data folder with one project. */
export interface Project {
  folder: string
  databaseFile: string
  key: string
}

export interface NewItem {
  name: string
  text: string
}

/** An empty one, made by the commands of the checkout under test: its tables, not ours. */
export async function createProject(main: string): Promise<Project> {
  const folder = temporaryFolder()
  const callbook = (...args: string[]) =>
    runCommand([join(checkoutOf(main), 'scripts/callbook.ts'), ...args, '--json'], { DATA_DIR: folder })
  await callbook('project', 'create', 'bench')
  const printed: { key: string } = JSON.parse(
    await callbook('key', 'create', '--project', 'bench', '--name', 'bench'),
  )
  return { folder, databaseFile: join(folder, 'callbook.db'), key: printed.key }
}

export function removeProject({ folder }: Project): void {
  rmSync(folder, { recursive: true, force: true })
}

/** The folder that `main` is `src/main.ts` of. */
export function checkoutOf(main: string): string {
  return resolve(dirname(main), '..')
}

/** Creates all items over HTTP, a few at once, and waits until they are found by vector. Ids, in their order. */
export async function addItems(
  { url }: Running,
  project: Project,
  items: readonly NewItem[],
): Promise<string[]> {
  const ids: string[] = []
  let next = 0
  const post = async () => {
    for (let index = next++; index < items.length; index = next++) {
      ids[index] = await addItem(url, project.key, items[index])
      if (index % 500 === 499) process.stderr.write(`  ${index + 1} of ${items.length} items\n`)
    }
  }
  await Promise.all(Array.from({ length: postsAtOnce }, post))
  await untilIndexed(url, countChunks(project))
  return ids
}

export function countChunks({ databaseFile }: Project): number {
  return readRows<{ n: number }>(databaseFile, 'select count(*) as n from chunks')[0]?.n ?? 0
}

/** Of a connection that writes nothing, beside the service's own. */
export function readRows<Row>(databaseFile: string, query: string): Row[] {
  const db = new Database(databaseFile, { timeout: 5_000 })
  try {
    db.exec('PRAGMA query_only = ON')
    // A row has the columns that its statement names.
    return db.prepare(query).all() as Row[]
  } finally {
    db.close()
  }
}

async function addItem(url: string, key: string, item: NewItem | undefined): Promise<string> {
  const response = await fetch(`${url}/v1/knowledge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(item),
  })
  if (response.status !== 201) throw new Error(`POST /v1/knowledge answered ${response.status}`)
  const { id }: { id: string } = await response.json()
  return id
}

/** @throws when the index has not as many vectors in time. */
async function untilIndexed(url: string, chunks: number): Promise<void> {
  const deadline = performance.now() + indexedWithinMs
  while (performance.now() < deadline) {
    const text = await (await fetch(`${url}/metrics`)).text()
    if (Number(/^callbook_index_vectors (\d+)/m.exec(text)?.[1]) >= chunks) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new Error(`The index did not hold ${chunks} vectors within ${indexedWithinMs} ms`)
}
