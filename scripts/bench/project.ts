import { dirname, join, resolve } from 'node:path'
import Database from 'libsql'
import { type Running, runCommand } from './processes.ts'
import { bodyOf } from './requests.ts'
import { temporaryFolder } from './temporary.ts'

const postsAtOnce = 4
const indexedWithinMs = 180_000
const pollMs = 100

/** A data folder with one project and its keys. */
export interface Project {
  folder: string
  databaseFile: string
  key: string
  ingestKey: string
}

export interface NewItem {
  name: string
  text: string
}

interface ProjectOptions {
  name?: string
  /** A new one by default. */
  folder?: string
  /** Settings of the database for the commands. */
  environment?: Record<string, string>
}

/** Creates an empty project with the commands of the checkout under test, so that the tables are those of its version. */
export async function createProject(
  main: string,
  { name = 'bench', folder = temporaryFolder(), environment = {} }: ProjectOptions = {},
): Promise<Project> {
  const callbook = (...args: string[]) =>
    runCommand([join(checkoutOf(main), 'scripts/callbook.ts'), ...args, '--json'], {
      DATA_DIR: folder,
      ...environment,
    })
  const { id }: { id: string } = JSON.parse(await callbook('project', 'create', name))
  const createKey = async (kind: string) => {
    const args = ['--project', id, '--name', 'bench', '--kind', kind]
    const { key }: { key: string } = JSON.parse(await callbook('key', 'create', ...args))
    return key
  }
  const [key, ingestKey] = [await createKey('live'), await createKey('ingest')]
  return { folder, databaseFile: join(folder, 'callbook.db'), key, ingestKey }
}

/** The checkout that the entry file is part of. */
export function checkoutOf(main: string): string {
  return resolve(dirname(main), '..')
}

/** Creates the items over HTTP and waits until the index holds their vectors. Returns their ids in the same order. */
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

/** Reads through a connection of its own, which cannot write. */
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

async function addItem(url: string, key: string, body: NewItem | undefined): Promise<string> {
  const { id }: { id: string } = JSON.parse(
    await bodyOf(url, { method: 'POST', path: '/v1/knowledge', key, body }),
  )
  return id
}

/** @throws when the index does not hold that many vectors in time */
async function untilIndexed(url: string, chunks: number): Promise<void> {
  const deadline = performance.now() + indexedWithinMs
  while (performance.now() < deadline) {
    const text = await (await fetch(`${url}/metrics`)).text()
    if (Number(/^callbook_index_vectors (\d+)/m.exec(text)?.[1]) >= chunks) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new Error(`The index did not hold ${chunks} vectors within ${indexedWithinMs} ms`)
}
