import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { openServices, type Services } from '../../src/services/services.ts'
import { repository } from '../repository.ts'
import { temporaryFolder } from './temporary.ts'

export const cacheFolder = join(tmpdir(), 'callbook-bench')
const manifestName = 'bench.json'
/** Increase it when the content changes. A changed schema needs no new version. */
const version = 3

/** A data folder with one project and its keys. */
export interface Dataset {
  folder: string
  databaseFile: string
  projectId: number
  key: string
  ingestKey: string
}

type Manifest = Pick<Dataset, 'projectId' | 'key' | 'ingestKey'>

export type Fill = (services: Services, projectId: number) => Promise<void>

export function removeCache(): void {
  rmSync(cacheFolder, { recursive: true, force: true })
}

/** The dataset from an earlier run, or a new one. @param base a dataset to copy before filling it */
export async function cachedDataset(name: string, fill: Fill, base?: Dataset): Promise<Dataset> {
  const folder = join(cacheFolder, `${name}-v${version}-${schemaDigest()}`)
  if (existsSync(join(folder, manifestName))) return readDataset(folder)
  rmSync(folder, { recursive: true, force: true })
  process.stderr.write(`Building ${name} …\n`)
  return buildDataset(folder, fill, base)
}

/** A copy that a case may change. It is removed after the case. */
export function copyDataset(dataset: Dataset): Dataset {
  const folder = temporaryFolder()
  cpSync(dataset.folder, folder, { recursive: true })
  return readDataset(folder)
}

/** An empty project. It is removed after the case. */
export function emptyDataset(): Promise<Dataset> {
  return buildDataset(temporaryFolder(), async () => undefined)
}

/** Makes a project in the folder and fills it. */
export async function buildDataset(folder: string, fill: Fill, base?: Dataset): Promise<Dataset> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (base) cpSync(base.folder, folder, { recursive: true })
  const services = await openInFolder(folder)
  try {
    const manifest = base ?? (await createProject(services))
    await fill(services, manifest.projectId)
    writeManifest(folder, manifest)
  } finally {
    await services.close()
  }
  return readDataset(folder)
}

async function openInFolder(folder: string): Promise<Services> {
  const config = loadConfig({ DATA_DIR: folder, EMBEDDING_PROVIDER: 'builtin' }, false)
  const services = await openServices({ config, log: pino({ level: 'silent' }), role: 'service' })
  await services.start()
  return services
}

async function createProject({ projects, keys }: Services): Promise<Manifest> {
  const { projectId } = await projects.create('bench')
  const make = (kind: 'live' | 'ingest') =>
    keys.create(projectId, { name: kind, kind, allowedIps: [], expiresAt: null })
  return { projectId, key: (await make('live')).key, ingestKey: (await make('ingest')).key }
}

function writeManifest(folder: string, { projectId, key, ingestKey }: Manifest): void {
  writeFileSync(join(folder, manifestName), JSON.stringify({ projectId, key, ingestKey }), { mode: 0o600 })
}

function readDataset(folder: string): Dataset {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8'))
  return { ...manifest, folder, databaseFile: join(folder, 'callbook.db') }
}

function schemaDigest(): string {
  const folder = join(repository, 'src/db/migrations')
  const hash = createHash('sha256')
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()) {
    hash.update(readFileSync(join(folder, file)))
  }
  return hash.digest('hex').slice(0, 8)
}
