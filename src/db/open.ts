import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { sql } from 'drizzle-orm'
import {
  type DatabaseLocation,
  fileUrl,
  type ReadLocation,
  type RemoteLocation,
  type ReplicaLocation,
  toReadLocation,
} from './location.ts'
import { isMigrated, migrate, migrateRemotely } from './migrate.ts'
import { openReaderAt } from './open-reader.ts'
import { openReader, type ReadDatabase, type Reader } from './reader.ts'
import { isReplica, Replica, type ReplicationStatus } from './replica.ts'
import { SideReader } from './side-reader.ts'
import type { StoreOf } from './store.ts'
import {
  openRemoteWriter,
  openWriter,
  type WriteDatabase,
  type Writer,
  type WriterOptions,
} from './writer.ts'

export interface OpenDatabase {
  readonly read: ReadDatabase
  readonly write: WriteDatabase
  readonly readAside: ReadDatabase
  /** See Writer.freeing. */
  readonly freeing: WriteDatabase
  readonly store: StoreOf
  /** Where workers open a reader of their own. */
  readonly readsAt: ReadLocation
  /** The database file; empty when there is none here. */
  readonly file: string
  /** Whether the file and every page of it are this machine's to write. */
  readonly isLocal: boolean
  /** See Reader.dataVersion. */
  dataVersion(): number
  /** False while writes are refused because the writer is starting again. */
  takesWrites(): boolean
  /** See Writer.keepBallast; only of a local database. */
  keepBallast(): Promise<void>
  /** See stale-cells.ts; only of a local database. */
  clearStalePages(pages: number[]): Promise<void>
  /** See Writer.emptyLog; only of a local database. */
  emptyLog(holdUpMs: number): Promise<boolean>
  /** Null where nothing is replicated. */
  replication(): ReplicationStatus | null
  /** Whether a replica is unusable until the next start fetches it anew. */
  isDamaged(): boolean
  /** This process is now the one that keeps a replica up to date. */
  own(): void
  close(): Promise<void>
}

export interface OpenDatabaseOptions {
  /** Whether this process keeps a replica up to date; otherwise the one that owns the folder does. */
  ownsFolder?: boolean
  now?: () => number
  /** Told when the worker that writes failed; it is started again. */
  onWriterFailure?: (error: Error) => void
  /** Told when the disk refuses what is written, and with null when it takes it again. */
  onDisk?: (problem: Error | null) => void
  /** Told when a replica can no longer be brought up to date, and with null when it can again. */
  onReplication?: (problem: string | null) => void
  /** Told of each place at which the processes that share a replica cannot ask its owner. */
  onSocketFailure?: (error: unknown) => void
}

/**
 * Opens the database, creating it if needed, and brings it to this version's schema.
 * @param at a path is that of a local file
 */
export async function openDatabase(
  at: string | DatabaseLocation,
  {
    ownsFolder = true,
    now = Date.now,
    onWriterFailure = () => undefined,
    onDisk = () => undefined,
    onReplication = () => undefined,
    onSocketFailure = () => undefined,
  }: OpenDatabaseOptions = {},
): Promise<OpenDatabase> {
  const location: DatabaseLocation = typeof at === 'string' ? { kind: 'file', file: at } : at
  if (location.kind === 'file') return await openFile(location.file, { onFailure: onWriterFailure, onDisk })
  if (location.kind === 'remote') return await openRemote(location, onWriterFailure)
  const folder = dirname(location.file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const replica = new Replica({ location, folder, now, onChange: onReplication, onSocketFailure })
  if (ownsFolder) replica.own()
  return await openReplica(location, replica, onWriterFailure)
}

type OnFailure = (error: Error) => void

async function openFile(file: string, watching: WriterOptions): Promise<OpenDatabase> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  if (isReplica(file)) {
    throw new Error(
      `${file} is a replica: set DATABASE_SYNC_URL to its primary, which alone may write to it.`,
    )
  }
  const writer = openWriter(fileUrl(file), watching)
  try {
    await migrate(writer.db, dirname(file))
    return toDatabase({ kind: 'file', file }, openReader(file), writer, null)
  } catch (error) {
    await writer.close()
    throw error
  }
}

async function openRemote(location: RemoteLocation, onFailure: OnFailure): Promise<OpenDatabase> {
  const writer = openRemoteWriter(location, { afterWrite: async () => undefined, onFailure })
  const reader = openReaderAt(location)
  try {
    await refuseWithoutForeignKeys(reader.db)
    if (!(await isMigrated(reader.db))) await migrateRemotely(writer.db)
    return toDatabase(location, reader, writer, null)
  } catch (error) {
    reader.close()
    await writer.close()
    throw error
  }
}

async function openReplica(
  location: ReplicaLocation,
  replica: Replica,
  onFailure: OnFailure,
): Promise<OpenDatabase> {
  const writer = openRemoteWriter(location.primary, { afterWrite: () => replica.syncWrite(), onFailure })
  let reader: Reader | null = null
  try {
    const failure = await replica.trySync().then(
      () => null,
      (error: unknown) => error,
    )
    reader = failure === null ? await openSynced(location, writer) : await openAlone(location, failure)
    replica.start()
    return toDatabase(location, reader, writer, replica)
  } catch (error) {
    reader?.close()
    await writer.close()
    await replica.close()
    throw error
  }
}

async function openSynced({ file }: ReplicaLocation, writer: Writer): Promise<Reader> {
  const reader = openReader(file)
  try {
    if (await isMigrated(reader.db)) return reader
    await migrateRemotely(writer.db)
  } catch (error) {
    reader.close()
    throw error
  }
  // A connection to a file that was empty does not see what replication makes of it.
  reader.close()
  return openReader(file)
}

/** Without its primary a node goes on with what it has. */
async function openAlone({ file, primary }: ReplicaLocation, failure: unknown): Promise<Reader> {
  const reader = openReader(file)
  if (await isMigrated(reader.db)) return reader
  reader.close()
  throw new Error(`${primary.url} cannot be reached, and there is no replica of it here yet`, {
    cause: failure,
  })
}

/** Deleting a call takes its document along by a foreign key. */
async function refuseWithoutForeignKeys(db: ReadDatabase): Promise<void> {
  const [row] = await db.all<{ foreign_keys: number }>(sql`pragma foreign_keys`)
  if (row?.foreign_keys === 0) throw new Error('The database server does not enforce foreign keys')
}

function toDatabase(
  location: DatabaseLocation,
  reader: Reader,
  writer: Writer,
  replica: Replica | null,
): OpenDatabase {
  const side = location.kind === 'remote' ? null : new SideReader(location.file)
  const store = {
    read: reader.db,
    write: writer.db,
    // A server answers on threads of its own.
    readAside: side?.db ?? reader.db,
    freeing: writer.freeing,
  }
  return {
    ...store,
    store: () => store,
    readsAt: toReadLocation(location),
    file: location.kind === 'remote' ? '' : location.file,
    isLocal: location.kind === 'file',
    takesWrites: writer.isUp,
    keepBallast: writer.keepBallast,
    clearStalePages: writer.clearStalePages,
    emptyLog: writer.emptyLog,
    dataVersion: () => reader.dataVersion(),
    replication: () => replica?.status ?? null,
    isDamaged: () => replica?.isDamaged ?? false,
    own: () => replica?.own(),
    close: async () => {
      reader.close()
      await writer.close()
      await replica?.close()
      // Last: a query that runs is waited for, and nothing is lost with it.
      await side?.close()
    },
  }
}
