import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import {
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import Database from 'libsql'
import { Thread } from '../threads/thread.ts'
import { noteBackup } from './backup-note.ts'
import type { BackupApi } from './backup-worker.ts'
import { FolderLock } from './folder-lock.ts'
import { refuseOthers } from './migrate.ts'
import { type KeepReview, type LeftOut, leaveOutErased } from './restore-erasures.ts'
import { draftOf, removeDraft } from './restored-draft.ts'
import { isEmptyFile, noDatabase } from './unusable.ts'

// A backup is a folder: a snapshot of the database, a manifest, and the encrypted files of recordings, whose keys are in the
// database. Index files are rebuilt from the rows.
const databaseName = 'callbook.db'
const manifestName = 'manifest.json'
const recordingsName = 'recordings'
const formatVersion = 1
const generationBytes = 32

/** What `manifest.json` says. */
export interface BackupManifest {
  format: number
  callbook: string
  createdAt: string
  /** The generation of the source; a restored database gets a new one. */
  generation: string
  database: { file: string; bytes: number; sha256: string }
  holds: { projects: number; calls: number; knowledgeItems: number; recordings: number }
}

interface BackupOptions {
  /** The database file. */
  source: string
  /** No backup may lie inside, where it would keep what is deleted later. */
  dataDir: string
  /** A folder that is new or empty. */
  folder: string
  /** The version of this program. */
  version: string
  now: () => number
  signal: AbortSignal
}

/**
 * Copies a snapshot of the database into `folder`, while others read and write it. The manifest comes last: a folder
 * without a whole one is not a backup.
 */
export async function backUp(options: BackupOptions): Promise<BackupManifest> {
  const { source, dataDir, version, now, signal } = options
  if (isEmptyFile(source)) throw noDatabase(source)
  const folder = resolve(options.folder)
  const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty. Choose another folder.`)
  const database = join(folder, databaseName)
  const manifestFile = join(folder, manifestName)
  try {
    await refuseInside(folder, dataDir)
    const createdAt = new Date(now()).toISOString()
    const { generation, ...counts } = await copyDatabase(source, database, signal)
    const recordings = await linkRecordings(database, { from: dataDir, to: folder, signal })
    const holds = { ...counts, recordings }
    const manifest: BackupManifest = {
      format: formatVersion,
      callbook: version,
      createdAt,
      generation,
      database: { file: databaseName, ...(await digestOf(database)) },
      holds,
    }
    signal.throwIfAborted()
    await syncFile(database)
    await writeFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`)
    await syncFile(manifestFile)
    await syncFile(folder)
    await note(dataDir, manifest)
    return manifest
  } catch (error) {
    const paths = isNew
      ? [folder]
      : [database, `${database}-journal`, join(folder, recordingsName), manifestFile]
    for (const path of paths) await rm(path, { recursive: true, force: true })
    throw error
  }
}

/** The backup is whole, also where its note cannot be written. */
async function note(dataDir: string, { createdAt, database }: BackupManifest): Promise<void> {
  await noteBackup(dataDir, { at: createdAt, bytes: database.bytes }).catch(() => undefined)
}

interface RestoreOptions {
  /** The backup. */
  folder: string
  /** The database file to create. */
  target: string
  dataDir: string
  /** A later backup of the same service, or its folder: what was erased until then is left out. */
  erasures?: string | undefined
  keepReview: KeepReview
  /** Hash of the token that sets up the console, if it has no owner yet. */
  setupHash: string
  signal: AbortSignal
}

/**
 * Restores a backup as a new database. It keeps the secrets, so that deleted ids stay deleted, and gets a new
 * generation, so that index files of the old one are never used. Sessions and one-time links end, since they may have
 * been ended or used after the backup.
 */
export async function restore(
  options: RestoreOptions,
): Promise<{ manifest: BackupManifest; isSetUp: boolean; leftOut: LeftOut | null }> {
  const { folder, target, dataDir, erasures, keepReview, setupHash, signal } = options
  const manifest = await readManifest(folder)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  refuseToOverwrite(target)
  const lock = FolderLock.tryAcquire(dataDir, 'owner')
  if (!lock) throw new Error(`A service runs on ${dataDir}. Stop it, or restore into another folder.`)
  const draft = draftOf(target)
  try {
    removeDraft(target)
    await copyFile(join(folder, databaseName), draft)
    // Checks the copy, which nobody else can change.
    const { bytes, sha256 } = await digestOf(draft)
    if (bytes !== manifest.database.bytes || sha256 !== manifest.database.sha256)
      throw new Error(
        `${join(folder, databaseName)} is not the file that the manifest describes. Nothing was restored.`,
      )
    signal.throwIfAborted()
    const leftOut =
      erasures === undefined ? null : await leaveOut(draft, { manifest, erasures, keepReview, signal })
    const isSetUp = beginGeneration(draft, setupHash)
    await syncFile(draft)
    await linkRecordings(draft, { from: folder, to: dataDir, signal })
    // Index files of another database may hold vectors of what is not in this one.
    await rm(join(dataDir, 'indexes'), { recursive: true, force: true })
    await putInPlace(draft, target)
    return { manifest, isSetUp, leftOut }
  } finally {
    removeDraft(target)
    lock.release()
  }
}

/** What the later state of the database shows to be erased. @param draft the file that is restored */
async function leaveOut(
  draft: string,
  {
    manifest,
    erasures,
    keepReview,
    signal,
  }: Pick<RestoreOptions, 'keepReview' | 'signal'> & { manifest: BackupManifest; erasures: string },
): Promise<LeftOut> {
  const isBackup = existsSync(join(erasures, manifestName))
  if (isBackup && (await readManifest(erasures)).createdAt < manifest.createdAt)
    throw new Error(`${erasures} was made before the backup that is restored. Nothing was restored.`)
  const source = join(erasures, databaseName)
  if (!existsSync(source)) throw new Error(`There is no database at ${source}. Nothing was restored.`)
  // A copy, since opening the database of a stopped service would change its log.
  const newer = `${draft}.newer`
  try {
    await rm(newer, { force: true })
    await copyDatabase(source, newer, signal)
    const connection = new Database(draft)
    try {
      connection.exec('pragma secure_delete = on')
      return leaveOutErased(connection, newer, keepReview)
    } finally {
      connection.close()
    }
  } finally {
    await rm(newer, { force: true })
  }
}

/**
 * Links the files of all recordings that the database names, or copies them to another file system. A file that was
 * deleted meanwhile is left out.
 * @returns how many there are
 */
async function linkRecordings(
  database: string,
  { from, to, signal }: { from: string; to: string; signal: AbortSignal },
): Promise<number> {
  const connection = new Database(database)
  const files = connection.prepare('select file from recordings').pluck().all().map(String)
  connection.close()
  const folder = join(to, recordingsName)
  if (files.length > 0) await mkdir(folder, { recursive: true, mode: 0o700 })
  let linkCount = 0
  for (const file of files) {
    signal.throwIfAborted()
    // In the order in which a file moves, so that it is not missed.
    const places = [join(from, recordingsName, 'incoming', file), join(from, recordingsName, file)]
    if (await linkFirst(places, join(folder, file))) linkCount++
  }
  if (files.length > 0) await syncFile(folder)
  return linkCount
}

/** Links the first of these files that is there. */
async function linkFirst(places: readonly string[], target: string): Promise<boolean> {
  for (const place of places) {
    try {
      // Left by a restore that was killed, perhaps not whole.
      await rm(target, { force: true })
      await link(place, target).catch(async (error) => {
        // Another file system, or one without links.
        if (error.code === 'ENOENT' || error.code === 'EEXIST') throw error
        await copyFile(place, target)
        await syncFile(target)
      })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return false
}

async function refuseInside(folder: string, dataDir: string): Promise<void> {
  const [real, data] = [await realpath(folder), await realpath(dataDir).catch(() => resolve(dataDir))]
  if (!`${real}${sep}`.startsWith(`${data}${sep}`)) return
  throw new Error(
    `${folder} is inside ${dataDir}, which must not keep what is deleted. Choose another folder.`,
  )
}

/** Copies in a thread of its own, so that `signal` can end the process meanwhile. */
async function copyDatabase(source: string, target: string, signal: AbortSignal) {
  const thread = new Thread<BackupApi>({
    script: new URL('./backup-worker.ts', import.meta.url),
    name: 'The backup',
    data: () => undefined,
  })
  const stop = () => void thread.close()
  signal.addEventListener('abort', stop)
  return await thread.ask('copy', source, target).finally(stop)
}

async function readManifest(folder: string): Promise<BackupManifest> {
  const path = join(folder, manifestName)
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new Error(`${resolve(folder)} is not a backup: it has no readable ${manifestName}.`, {
      cause: error,
    })
  })
  const manifest = parseManifest(text)
  if (!manifest) throw new Error(`${path} is damaged. Nothing was restored.`)
  if (manifest.format !== formatVersion)
    throw new Error('The backup was made by a newer version of Callbook than this one.')
  return manifest
}

function parseManifest(text: string): BackupManifest | null {
  try {
    const value: BackupManifest = JSON.parse(text)
    const { bytes, sha256 } = value.database
    const isWhole = [bytes, value.format].every(Number.isSafeInteger)
    return isWhole && /^[0-9a-f]{64}$/.test(sha256) ? value : null
  } catch {
    // Not a manifest that we wrote.
    return null
  }
}

function refuseToOverwrite(target: string): void {
  const there = [target, `${target}-wal`, `${target}-journal`].find((path) => existsSync(path))
  if (there === undefined) return
  throw new Error(
    `${there} exists already and is never overwritten: restore into a new DATA_DIR, or move it away.`,
  )
}

/** @returns whether the console has an owner @throws UnusableDatabase if another version has written it */
function beginGeneration(file: string, setupHash: string): boolean {
  const connection = new Database(file)
  try {
    const migrations = connection
      .prepare("select json_object('hash', hash, 'at', created_at) from __drizzle_migrations")
      .pluck()
      .all()
    refuseOthers(migrations.map((row) => JSON.parse(String(row))))
    connection.exec('pragma secure_delete = on')
    connection.exec('begin')
    connection
      .prepare("update meta set value = ? where name = 'generation'")
      .run(randomBytes(generationBytes).toString('hex'))
    connection.exec(`
      delete from sessions;
      delete from verifications;
      delete from invitations;
      delete from meta where name = 'console_setup_hash'`)
    const { changes } = connection
      .prepare(`
        insert into meta (name, value) select 'console_setup_hash', ?
        where not exists (select 1 from meta where name = 'console_owner')`)
      .run(setupHash)
    connection.exec('commit')
    return changes === 0
  } finally {
    connection.close()
  }
}

/** Links, which fails if a service has made a database there meanwhile. Renaming would overwrite it. */
async function putInPlace(draft: string, target: string): Promise<void> {
  await link(draft, target).catch((error) => {
    if (error.code === 'EEXIST') refuseToOverwrite(target)
    throw error
  })
  await rm(draft)
  await syncFile(dirname(target))
}

async function digestOf(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  for await (const part of createReadStream(file)) hash.update(part)
  return { bytes: (await stat(file)).size, sha256: hash.digest('hex') }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
