import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import pino from 'pino'
import { loadConfig } from '../src/config.ts'
import { openServices, type Services } from '../src/services/services.ts'
import { repository } from './repository.ts'
import { temporaryFolder } from './temporary.ts'

const cacheFolder = join(tmpdir(), 'callbook-datasets')
const manifestName = 'dataset.json'
/** The code that decides which rows, vectors and index files a dataset has. */
const makesRows = [
  'db',
  'calls',
  'knowledge/chunking',
  'knowledge/embedding',
  'knowledge/indexing/index',
  'knowledge/knowledge.ts',
  'text',
]

/** A data folder with one project and its keys. */
export interface Dataset {
  folder: string
  databaseFile: string
  projectId: number
  key: string
  ingestKey: string
}

export type Fill = (services: Services, projectId: number) => Promise<unknown>

interface DatasetOptions {
  /** A temporary one by default. */
  folder?: string
  name?: string
  /** Settings of the service that fills it. */
  environment?: Record<string, string>
  fill?: Fill
}

/** Makes a project in the folder and fills it. */
export async function makeDataset({
  folder = temporaryFolder(),
  name = 'bench',
  environment,
  fill,
}: DatasetOptions = {}): Promise<Dataset> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const make = async (services: Services): Promise<Dataset> => {
    const { projectId } = await services.projects.create(name)
    const keyOf = async (kind: 'live' | 'ingest') => {
      const rules = { allowedIps: [], expiresAt: null }
      return (await services.keys.create(projectId, { name: kind, kind, ...rules })).key
    }
    const [key, ingestKey] = [await keyOf('live'), await keyOf('ingest')]
    await fill?.(services, projectId)
    return { folder, databaseFile: join(folder, 'callbook.db'), projectId, key, ingestKey }
  }
  return await withServices(folder, make, environment)
}

/** The dataset that an earlier run of the same code has made, or a new one. */
export function cachedDataset(name: string, fill: Fill): Promise<Dataset> {
  return cachedFolder(name, (folder) => makeDataset({ folder, fill }))
}

/** The same of a dataset that is made in another way. */
export async function cachedFolder(
  name: string,
  make: (folder: string) => Promise<Dataset>,
): Promise<Dataset> {
  const folder = join(cacheFolder, `${name}-${sourceDigest()}`)
  if (!existsSync(join(folder, manifestName))) {
    rmSync(folder, { recursive: true, force: true })
    process.stderr.write(`Building ${folder} …\n`)
    const dataset = await make(folder)
    writeFileSync(join(folder, manifestName), JSON.stringify(dataset), { mode: 0o600 })
  }
  return JSON.parse(readFileSync(join(folder, manifestName), 'utf8'))
}

/** A copy that a case may change. It is removed after the case. */
export function copyDataset(dataset: Dataset): Dataset {
  const folder = temporaryFolder()
  cpSync(dataset.folder, folder, { recursive: true })
  return { ...dataset, folder, databaseFile: join(folder, 'callbook.db') }
}

/** Opens the services on a folder in this process. */
export async function withServices<Result>(
  folder: string,
  action: (services: Services) => Promise<Result>,
  environment: Record<string, string> = {},
): Promise<Result> {
  const config = loadConfig({ DATA_DIR: folder, EMBEDDING_PROVIDER: 'builtin', ...environment }, false)
  const services = await openServices({ config, log: pino({ level: 'silent' }), role: 'service' })
  try {
    await services.start()
    return await action(services)
  } finally {
    await services.close()
  }
}

/** Reads through a connection of its own. */
export function readRows<Row>({ databaseFile }: Pick<Dataset, 'databaseFile'>, query: string): Row[] {
  const db = new Database(databaseFile, { timeout: 5_000, readonly: true })
  try {
    // A row has the columns that its statement names.
    return db.prepare(query).all() as Row[]
  } finally {
    db.close()
  }
}

function sourceDigest(): string {
  const hash = createHash('sha256')
  for (const path of makesRows.map((name) => join(repository, 'src', name))) {
    const names = statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, encoding: 'utf8' })
      : ['']
    for (const file of names.sort().map((name) => join(path, name)))
      if (statSync(file).isFile()) hash.update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 8)
}
