import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { AppError } from '../errors.ts'
import { freeBytesAround } from './ballast-file.ts'
import { CommitWatch } from './commit-watch.ts'
import { litestreamProblem } from './litestream.ts'
import {
  type DatabaseLocation,
  type FileLocation,
  fileUrl,
  type ReadLocation,
  type RemoteLocation,
  type ReplicaLocation,
} from './location.ts'
import { type DatabaseLog, silentLog } from './log.ts'
import { migrate, migrateRemotely, schemaOf } from './migrate.ts'
import { openReader, type ReadDatabase, type Reader } from './reader.ts'
import { asUnusable } from './remote-failure.ts'
import { isReplica, Replica, type ReplicationStatus } from './replica.ts'
import { SideReader } from './side-reader.ts'
import type { Store, StoreOf } from './store.ts'
import { isEmptyFile, type UnusableDatabase } from './unusable.ts'
import { Writer, type WriterOptions } from './writer.ts'
import type { DiskTrouble } from './writer-messages.ts'

const damaged = 'The replica is damaged. Restart the service to fetch it again from the primary.'
const unswept =
  'Another program has written to the database file, which is searched for bytes of deleted records. Until that is done, erasures are pending.'
const storesKeptMax = 1_000

/** What the writer does for a local database alone. */
type ForFiles = Pick<
  Writer,
  'keepBallast' | 'clearStalePages' | 'emptyLog' | 'onUnswept' | 'gaps' | 'endSweep'
>

export interface OpenDatabase extends Store, ForFiles {
  readonly store: StoreOf
  /** Where workers open their own readers. */
  readonly readsAt: ReadLocation
  /** The database file; empty for a remote database. */
  readonly file: string
  /** Whether the database is a file that only this machine writes. */
  readonly isLocal: boolean
  dataVersion(): number
  /** See commit-watch.ts. */
  onCommit(listener: () => void): void
  /** Why no write is possible, in a sentence; null when writes are. Reads go on, except from a damaged replica. */
  refusesWritesBecause(): string | null
  /** What an operator should know while reads and deletions work, in a sentence; null when nothing is wrong. */
  problem(): string | null
  /** Bytes that are free on the disk of the file; null for a remote database. */
  freeBytes(): number | null
  /** Writes that the disk has refused, by the reason. */
  refusedWrites(): Record<DiskTrouble, number>
  /** See Writer.answerTo. */
  answerTo(error: unknown): AppError | null
  /** See Writer.isSwept. */
  isSwept(): boolean
  /** Null unless the database is a replica. */
  replication(): ReplicationStatus | null
  /** Makes this process the one that syncs the replica. */
  own(): void
  close(): Promise<void>
}

interface OpenDatabaseOptions {
  /** Whether this process owns the folder, and so syncs the replica. */
  ownsFolder?: boolean
  /** Writes to a file wait for it: see soundness.ts. */
  untilSound?: Promise<unknown> | undefined
  /** Why no database may be made where there is none; null when one may. */
  refusesNew?: UnusableDatabase | null
  /** Why nothing may be written to a file, in a sentence; null when it may. */
  refusedBecause?: () => string | null
  /** How often a server's database is asked for what other nodes have written. */
  remotePollMs?: number
  now?: () => number
  log?: DatabaseLog
}

/**
 * Opens the database, creating it if needed, and brings it to this version's schema.
 * @param at a location, or the path of a local file
 */
export async function openDatabase(
  at: string | DatabaseLocation,
  {
    ownsFolder = true,
    untilSound,
    refusesNew = null,
    refusedBecause,
    remotePollMs = 1_000,
    now = Date.now,
    log = silentLog,
  }: OpenDatabaseOptions = {},
): Promise<OpenDatabase> {
  const location: DatabaseLocation = typeof at === 'string' ? { kind: 'file', file: at } : at
  const admitsNew = () => {
    if (refusesNew !== null) throw refusesNew
  }
  if (location.kind === 'remote') return await openRemote(location, { log, pollMs: remotePollMs, admitsNew })
  if (isEmptyFile(location.file)) admitsNew()
  const folder = dirname(location.file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (location.kind === 'file')
    return await openFile(location, { log, untilSound, refusedBecause, admitsNew })
  const replica = new Replica({ location, folder, now, log })
  if (ownsFolder) replica.own()
  return await openReplica(location, replica, log)
}

interface Opening {
  /** Throws unless a database may be made. */
  admitsNew: () => void
}

async function openFile(
  location: FileLocation,
  { admitsNew, ...options }: WriterOptions & Opening,
): Promise<OpenDatabase> {
  const { file } = location
  if (isReplica(file)) {
    throw new Error(
      `${file} is a replica: set DATABASE_SYNC_URL to its primary, which alone may write to it.`,
    )
  }
  // An empty file is a database without tables. None is made after the start.
  writeFileSync(file, '', { flag: 'a' })
  const writer = new Writer({ kind: 'file', url: fileUrl(file) }, options)
  const reader = openReader(file)
  try {
    // Through the reader, so that the start of a migrated database need not wait for the writer.
    const schema = await schemaOf(reader.db)
    if (schema === 'none') admitsNew()
    if (schema !== 'current') await migrate(writer.db, dirname(file))
    return toDatabase(location, { reader, writer, log: options.log ?? silentLog, sides: sideReaders(file) })
  } catch (error) {
    reader.close()
    await writer.close()
    throw error
  }
}

async function openRemote(
  location: RemoteLocation,
  { log, pollMs, admitsNew }: { log: DatabaseLog; pollMs: number } & Opening,
): Promise<OpenDatabase> {
  const { openRemoteReader } = await import('./remote-reader.ts')
  const writer = new Writer(location, { log })
  const reader = openRemoteReader(location)
  try {
    await refuseWithoutForeignKeys(reader.db)
    const schema = await schemaOf(reader.db)
    if (schema === 'none') admitsNew()
    if (schema !== 'current') await migrateRemotely(writer.db)
    return toDatabase(location, { reader, writer, log, pollMs })
  } catch (error) {
    reader.close()
    await writer.close()
    throw asUnusable(error, location.url)
  }
}

async function openReplica(
  location: ReplicaLocation,
  replica: Replica,
  log: DatabaseLog,
): Promise<OpenDatabase> {
  const target = { ...location.primary, replicaFile: location.file }
  const writer = new Writer(target, {
    log,
    afterWrite: () => replica.syncWrite(),
    refusedBecause: () => replica.stoppedBecause,
  })
  try {
    const failure = await replica.sync().catch((error: unknown) => error)
    const reader = await openReplicaReader(location, writer, failure)
    replica.start()
    return toDatabase(location, { reader, writer, log, replica, sides: sideReaders(location.file) })
  } catch (error) {
    await writer.close()
    await replica.close()
    throw error
  }
}

/** @param failure why the replica could not be synced; without its primary, a node serves the replica that it has */
async function openReplicaReader(
  { file, primary }: ReplicaLocation,
  writer: Writer,
  failure: unknown,
): Promise<Reader> {
  writeFileSync(file, '', { flag: 'a' })
  const reader = openReader(file)
  try {
    if ((await schemaOf(reader.db)) === 'current') return reader
    if (failure !== undefined) {
      throw new Error(`${primary.url} cannot be reached, and there is no replica of it here yet`, {
        cause: failure,
      })
    }
    await migrateRemotely(writer.db)
  } catch (error) {
    reader.close()
    throw error
  }
  // A connection that was opened on the empty file does not see the replicated rows.
  reader.close()
  return openReader(file)
}

/** Foreign keys delete a call's document with the call. */
async function refuseWithoutForeignKeys(db: ReadDatabase): Promise<void> {
  const [row] = await db.all<{ foreign_keys: number }>(sql`pragma foreign_keys`)
  if (row?.foreign_keys === 0) throw new Error('The database server does not enforce foreign keys')
}

interface SideReaders extends Record<'readInBackground' | 'readForConsole', SideReader> {
  forSearch: Reader
}

/** The threads run only while they are used. */
function sideReaders(file: string): SideReaders {
  return {
    readInBackground: new SideReader(file),
    readForConsole: new SideReader(file),
    forSearch: openReader(file, { mapsFile: false }),
  }
}

interface DatabaseParts {
  reader: Reader
  writer: Writer
  log: DatabaseLog
  /** See CommitWatch; for a server's database. */
  pollMs?: number
  replica?: Replica
  sides?: SideReaders
}

function toDatabase(
  location: DatabaseLocation,
  { reader, writer, log, pollMs, replica, sides }: DatabaseParts,
): OpenDatabase {
  const commits = new CommitWatch({ dataVersion: reader.dataVersion, pollMs: pollMs ?? null, log })
  writer.onWritten(() => commits.committed())
  // A server has its own threads.
  const asideOf = (projectId: number | null) => ({
    readInBackground: sides?.readInBackground.of(projectId) ?? reader.db,
    readForConsole: sides?.readForConsole.of(projectId) ?? reader.db,
  })
  const readForSearch = sides?.forSearch.db ?? reader.db
  const { db: write, writeWhenFull } = writer
  const file = location.kind === 'remote' ? '' : location.file
  const store = { read: reader.db, readForSearch, write, writeWhenFull, ...asideOf(null) }
  const stores = new LRUCache<number, Store>({
    max: storesKeptMax,
    memoMethod: (projectId) => ({ ...store, ...asideOf(projectId) }),
  })
  return {
    ...store,
    store: (projectId) => stores.memo(projectId),
    readsAt: location.kind === 'replica' ? { kind: 'file', file: location.file } : location,
    file,
    isLocal: location.kind === 'file',
    refusesWritesBecause: () => (replica?.isDamaged ? damaged : writer.refusesBecause()),
    problem: () => writer.disk.problem ?? (writer.isSwept ? litestreamProblem(file) : unswept),
    freeBytes: () => (location.kind === 'remote' ? null : freeBytesAround(location.file)),
    refusedWrites: () => writer.disk.refused,
    // A damaged replica is fetched again, and a server's disk is the server's concern.
    answerTo: (error) => (location.kind === 'file' ? writer.answerTo(error) : null),
    keepBallast: (bytes) => writer.keepBallast(bytes),
    clearStalePages: (pages) => writer.clearStalePages(pages),
    emptyLog: (holdUpMs) => writer.emptyLog(holdUpMs),
    isSwept: () => writer.isSwept,
    onUnswept: (listener) => writer.onUnswept(listener),
    gaps: () => writer.gaps(),
    endSweep: (gaps) => writer.endSweep(gaps),
    dataVersion: () => reader.dataVersion(),
    onCommit: (listener) => commits.onCommit(listener),
    replication: () => replica?.status ?? null,
    own: () => replica?.own(),
    close: async () => {
      await commits.close()
      reader.close()
      sides?.forSearch.close()
      await writer.close()
      await replica?.close()
      // Last, since they wait for the queries that run.
      await Promise.all([sides?.readInBackground.close(), sides?.readForConsole.close()])
    },
  }
}
