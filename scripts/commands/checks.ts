import { statSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { type Config, ConfigError } from '../../src/config.ts'
import { isWritable } from '../../src/core/folder.ts'
import { ballastBytes } from '../../src/db/ballast-file.ts'
import { troubleOf } from '../../src/db/damage.ts'
import { litestreamProblem } from '../../src/db/litestream.ts'
import { UnusableDatabase } from '../../src/db/unusable.ts'
import { loadAddon } from '../../src/knowledge/indexing/index/addon.ts'
import { BucketFiles, notOurs } from '../../src/recordings/bucket-files.ts'
import { compareFiles } from '../../src/recordings/comparison.ts'
import type { Services } from '../../src/services/services.ts'
import { hasOwner } from './folder.ts'
import { verifyIndex } from './index-check.ts'
import { counted, sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

const embedWithinMs = 20_000

/** The report of `doctor` on one part. */
export interface Check {
  check: 'configuration' | 'database' | 'addon' | 'embedding' | 'analysis' | 'index' | 'recordings'
  ok: boolean
  detail: string
  /** What to do; null if nothing is wrong. */
  advice: string | null
}

export interface CheckOptions {
  /** Whether to count calls again where the counts are wrong. */
  repair?: boolean
  /** Whether this database takes over the bucket of recordings. */
  adoptBucket?: boolean
  /** Whether to check nothing but the embedding provider. */
  embedding?: boolean
}

/** Reports each check as soon as it is done, and skips those that depend on a failed one. */
export async function runChecks(
  shell: Shell,
  report: (check: Check) => Promise<void>,
  { repair = false, adoptBucket = false, embedding: isAlone = false }: CheckOptions = {},
): Promise<void> {
  const { check, config } = checkConfiguration(shell)
  if (!isAlone || !check.ok) await report(check)
  if (!isAlone) await report(checkAddon())
  if (!config) return
  let isOpen = false
  try {
    await shell.withServices(async (services) => {
      if (!isAlone) await report(await checkDatabase(services, repair))
      isOpen = true
      await report(await checkEmbedding(services, shell.signal))
      if (isAlone) return
      const analysis = await checkAnalysis(services, shell.signal)
      if (analysis) await report(analysis)
      await report(await checkIndexes(services, shell.signal))
      const recordings = await checkRecordings(services, { repair, adoptBucket }, shell.signal)
      if (recordings) await report(recordings)
    })
  } catch (error) {
    if (isOpen || shell.signal.aborted) throw error
    await report(databaseFault(config, error))
  }
}

function sound(check: Check['check'], detail: string): Check {
  return { check, ok: true, detail, advice: null }
}

function fault(check: Check['check'], detail: string, advice: string): Check {
  return { check, ok: false, detail, advice }
}

function checkConfiguration(shell: Shell): { check: Check; config: Config | null } {
  try {
    const config = shell.loadConfig()
    const detail = `data in ${config.dataDir}, database ${config.databaseUrl}`
    return { check: sound('configuration', detail), config }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const detail = error.problems.join('\n')
    const advice = 'Fix these variables in the environment or in .env. See .env.example for each.'
    return { check: fault('configuration', detail, advice), config: null }
  }
}

function checkAddon(): Check {
  const { reason } = loadAddon()
  if (reason === null) return sound('addon', 'hnswlib-node is built for this machine')
  const detail = `${reason}, so vector search compares every row: exact, but slow with many rows`
  const advice = 'To make it fast, install a C++ compiler (such as g++) and run: bun scripts/build-addon.ts'
  return { check: 'addon', ok: true, detail, advice }
}

const pragmas = [
  { name: 'journal_mode', wanted: 'wal' },
  { name: 'synchronous', wanted: 2 },
  { name: 'foreign_keys', wanted: 1 },
  { name: 'secure_delete', wanted: 1 },
]

async function checkDatabase(services: Services, repair: boolean): Promise<Check> {
  return services.database.isLocal ? await checkFile(services, repair) : await checkServer(services)
}

/** Durability, damage and backups are the server's concern: only reading can be checked from here. */
async function checkServer({ database, config }: Services): Promise<Check> {
  const startedAt = performance.now()
  const [applied] = await database.read.all<{ n: number }>(
    sql`select count(*) as n from __drizzle_migrations`,
  )
  const tookMs = Math.round(performance.now() - startedAt)
  const url = config.databaseSyncUrl ?? config.databaseUrl
  const replica = config.databaseSyncUrl === null ? '' : ', replicated into this folder'
  const detail = `${url} answered in ${tookMs} ms, ${counted(applied?.n ?? 0, 'migration')} applied${replica}`
  return sound('database', detail)
}

async function checkFile(services: Services, repair: boolean): Promise<Check> {
  const { database } = services
  const { write } = database
  const faults: string[] = []
  for (const { name, wanted } of pragmas) {
    const [row] = await write.all<Record<string, unknown>>(sql.raw(`pragma ${name}`))
    if (row?.[name] !== wanted) faults.push(`${name} is ${String(row?.[name])} instead of ${wanted}`)
  }
  const broken = await write.all<{ quick_check: string }>(sql`pragma quick_check(5)`)
  const damage = broken.map(({ quick_check: line }) => line).filter((line) => line !== 'ok')
  const [applied] = await write.all<{ n: number }>(sql`select count(*) as n from __drizzle_migrations`)
  if (damage.length > 0) {
    return damaged(`the file is damaged: ${damage.join('; ')}`)
  }
  if (faults.length > 0) {
    const advice = 'Move DATA_DIR to a local disk: network file systems lack what the database needs.'
    return fault('database', faults.join('; '), advice)
  }
  const litestream = litestreamProblem(database.file)
  if (litestream)
    return fault('database', litestream, 'Stop Litestream, remove its folder, and use `bun callbook backup`.')
  const fullness = await checkRoom(services)
  if (fullness) return fullness
  const miscounted = await findMiscounted(database, repair)
  if (miscounted.length > 0) {
    const detail = `the file is sound, but the calls of ${counted(miscounted.length, 'project')} are counted wrong`
    return fault('database', detail, 'Count them again: bun callbook doctor --repair')
  }
  const detail = `${inMegabytes(statSync(database.file).size)} MB, sound, ${counted(applied?.n ?? 0, 'migration')} applied, writes are durable`
  return sound('database', detail)
}

/** Null when there is room for the largest call and what its deletion needs, and the folder can be written. */
async function checkRoom({ database, config }: Services): Promise<Check | null> {
  const unwritable = [config.dataDir, database.file].find((path) => !isWritable(path))
  if (unwritable !== undefined) {
    const advice =
      'Make it writable for the user who runs the service. Until then, nothing can be written or deleted.'
    return fault('database', `${unwritable} cannot be written`, advice)
  }
  const free = database.freeBytes() ?? 0
  const [row] = await database.read.all<{ bytes: number }>(
    sql`select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size`,
  )
  const reusable = row?.bytes ?? 0
  if (free + reusable >= ballastBytes(config.callBytesMax)) return null
  const detail = `the disk is full: ${inMegabytes(free)} MB are free, and ${inMegabytes(reusable)} MB within the database`
  const advice =
    'Make space on the disk of DATA_DIR, or delete records. Until then, writes that do not fit are refused.'
  return fault('database', detail, advice)
}

function inMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}

/** The projects whose call counts are wrong; none after a repair. */
async function findMiscounted({ read, write }: Services['database'], repair: boolean): Promise<number[]> {
  const isWrong = sql`calls <> (select count(*) from calls where project_id = projects.id)`
  const rows = await read.all<{ id: number }>(sql`select id from projects where ${isWrong}`)
  if (!repair) return rows.map(({ id }) => id)
  await write.run(
    sql`update projects set calls = (select count(*) from calls where project_id = projects.id) where ${isWrong}`,
  )
  return []
}

function databaseFault({ databaseUrl, databaseFile, databaseSyncUrl }: Config, error: unknown): Check {
  if (error instanceof UnusableDatabase) return fault('database', error.reason, error.advice)
  const detail = `${databaseSyncUrl ?? databaseUrl} cannot be used: ${sentenceOf(error)}`
  if (databaseFile === null || databaseSyncUrl !== null)
    return fault(
      'database',
      detail,
      'Check the address, DATABASE_AUTH_TOKEN and that the server can be reached.',
    )
  if (troubleOf(error)?.trouble === 'damaged')
    return damaged(`${databaseFile} is damaged: ${sentenceOf(error)}`)
  return fault(
    'database',
    detail,
    `Check that this user may read and write ${databaseFile} and its folder, and that the disk is not full.`,
  )
}

function damaged(detail: string): Check {
  const advice =
    'Stop the service, keep a copy of the file, and restore the newest backup into a new DATA_DIR: bun callbook restore FOLDER'
  return fault('database', detail, advice)
}

async function checkEmbedding({ embedder, config }: Services, signal: AbortSignal): Promise<Check> {
  const startedAt = performance.now()
  const timeout = AbortSignal.timeout(embedWithinMs)
  const advice =
    `Check ${variablesOf(config.embedding)} and the network. ` +
    'Until then, items are stored and found by keyword.'
  const failed = (why: string) => fault('embedding', `${embedder.destination} does not embed: ${why}`, advice)
  try {
    const [vector] = await embedder.embed(['doctor'], 'document', AbortSignal.any([signal, timeout]))
    const tookMs = Math.round(performance.now() - startedAt)
    if (!vector || vector.length === 0) return failed('it returned no vector')
    const detail = `${embedder.destination} answered ${vector.length} dimensions in ${tookMs} ms`
    return sound('embedding', detail)
  } catch (error) {
    signal.throwIfAborted()
    return failed(timeout.aborted ? `no answer within ${embedWithinMs / 1000} s` : sentenceOf(error))
  }
}

function variablesOf({ provider, endpoint }: Config['embedding']): string {
  if (provider === 'openai') return 'EMBEDDING_ENDPOINT, EMBEDDING_MODEL, EMBEDDING_TOKEN'
  if (!endpoint) return 'EMBEDDING_MODEL, HF_TOKEN'
  return 'EMBEDDING_ENDPOINT (asked in Hugging Face’s format; for OpenAI’s let it end in /v1), EMBEDDING_TOKEN, HF_TOKEN'
}

/** Null without a model. */
async function checkAnalysis({ chat }: Services, signal: AbortSignal): Promise<Check | null> {
  if (!chat) return null
  const startedAt = performance.now()
  try {
    await chat.probe(signal)
    const tookMs = Math.round(performance.now() - startedAt)
    return sound('analysis', `${chat.name} at ${chat.destination} answered in ${tookMs} ms`)
  } catch (error) {
    signal.throwIfAborted()
    const advice =
      'Check ANALYSIS_MODEL, ANALYSIS_ENDPOINT, ANALYSIS_TOKEN and the network. Until then, calls wait for their analysis.'
    return fault(
      'analysis',
      `${chat.name} at ${chat.destination} cannot be used: ${sentenceOf(error)}`,
      advice,
    )
  }
}

/** Null where none can be kept. */
async function checkRecordings(
  { database, recordingFiles: files, config }: Services,
  { repair, adoptBucket }: { repair: boolean; adoptBucket: boolean },
  signal: AbortSignal,
): Promise<Check | null> {
  if (!files) return null
  const place = config.bucket?.endpoint ?? `${config.dataDir}/recordings`
  try {
    const bucket = files instanceof BucketFiles ? files : null
    if (adoptBucket) await bucket?.adopt()
    const isOurs = (await bucket?.isOurs()) ?? true
    const { read } = database
    const found = await compareFiles({ read, files, now: Date.now }, signal)
    const { recordings, missing, damaged } = found
    // What another database names is no file of nobody.
    const unnamed = isOurs ? found.unnamed : []
    if (repair) for (const name of unnamed) await files.remove(name)
    const unknown = repair ? 0 : unnamed.length
    const faults = [
      ...(isOurs ? [] : [notOurs]),
      ...(missing > 0 ? [`${counted(missing, 'recording')} of ${recordings} have no file in ${place}`] : []),
      ...(damaged > 0 ? [`${counted(damaged, 'file')} in ${place} have another length than they had`] : []),
      ...(unknown > 0 ? [`${counted(unknown, 'file')} in ${place} belong to no recording`] : []),
    ]
    if (faults.length === 0) return sound('recordings', `${counted(recordings, 'recording')} in ${place}`)
    return fault('recordings', faults.join('; '), recordingsAdvice(isOurs, missing + damaged > 0))
  } catch (error) {
    signal.throwIfAborted()
    return fault(
      'recordings',
      sentenceOf(error),
      'Check RECORDINGS_URL, RECORDINGS_ENDPOINT, AWS_… and the network.',
    )
  }
}

function recordingsAdvice(isOurs: boolean, areLost: boolean): string {
  if (!isOurs)
    return 'In a drill, leave it so. If the other database is gone for good: bun callbook doctor --adopt-bucket'
  if (areLost)
    return 'Bring the files back from a backup, under their names; without them, those recordings are lost.'
  return 'Nobody can hear them, since their keys are gone. Remove them: bun callbook doctor --repair'
}

async function checkIndexes(services: Services, signal: AbortSignal): Promise<Check> {
  const faults: string[] = []
  const sum = { vectors: 0, unsaved: 0, pending: 0 }
  const projects = await services.projects.list()
  for (const project of projects) {
    const check = await verifyIndex(services, project, signal)
    sum.vectors += check.fileVectors
    sum.unsaved += check.rowsNotInFile
    sum.pending += check.pendingChunks
    if (!check.ok) faults.push(`${shown(project.name)} (${project.id}): ${check.faults.join('; ')}`)
  }
  if (faults.length > 0) {
    const advice = 'Rebuild them from the rows: bun callbook index rebuild'
    return fault('index', faults.join('\n'), advice)
  }
  const running = hasOwner(services.config) ? 'a service is running' : 'no service is running'
  const detail =
    `${counted(projects.length, 'project')}, ${counted(sum.vectors, 'vector')} in sound files, ` +
    `${sum.unsaved} not saved yet, ${counted(sum.pending, 'chunk')} pending; ${running}`
  return sound('index', detail)
}
