import { createWriteStream, openAsBlob } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { S3mini } from 's3mini'
import { type AppError, unavailable } from '../errors.ts'
import type { Draft, OpenFile, RecordingFiles } from './files.ts'
import { FolderFiles } from './folder-files.ts'

const answerWithinMs = 60_000
const keysPerPage = 1_000
/** The object that names the database whose recordings these are. */
const ownerName = 'callbook-database'

export interface BucketOptions {
  /** Address of the bucket, such as `https://s3.eu-central-1.amazonaws.com/recordings`. */
  endpoint: string
  /** Begins each name in the bucket, such as `callbook/`; may be empty. */
  prefix: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Where drafts are until they are in the bucket. */
  folder: string
  /** The database's generation: a restored copy has another one, and only reads. */
  generation: string
}

export const notOurs =
  'The bucket of recordings (RECORDINGS_URL) belongs to another database, such as the one that this was restored from, so it is only read.'

/**
 * Files of recordings in a bucket of any S3, which several nodes can share. A draft stays in the folder until its row is
 * committed, so that the next start knows what a kill has left in the bucket.
 */
export class BucketFiles implements RecordingFiles {
  readonly #options: BucketOptions
  readonly #drafts: FolderFiles
  #client: Promise<S3mini> | undefined

  constructor(options: BucketOptions) {
    this.#options = options
    this.#drafts = new FolderFiles(options.folder)
  }

  /** Whether this database may write and remove: no other one has claimed the bucket. */
  async isOurs(): Promise<boolean> {
    const owner = await this.#ask((client, key) => client.getObject(key), ownerName)
    if (owner === null) await this.adopt()
    return owner === null || owner === this.#options.generation
  }

  /** Makes this database the one that writes and removes. */
  async adopt(): Promise<void> {
    await this.#ask((client, key) => client.putObject(key, this.#options.generation), ownerName)
  }

  async create(): Promise<Draft> {
    await this.#refuseOthers()
    const draft = await this.#drafts.create()
    return {
      name: draft.name,
      path: draft.path,
      write: draft.write,
      finish: async () => {
        await draft.finish()
        await this.#send(draft)
      },
      discard: async () => {
        await this.#ask((client, key) => client.deleteObject(key), draft.name).catch(() => undefined)
        await draft.discard()
      },
    }
  }

  async keep(name: string): Promise<void> {
    await this.#drafts.remove(name)
  }

  async open(name: string): Promise<OpenFile | null> {
    if (!(await this.#ask((client, key) => client.objectExists(key), name))) return null
    return {
      bytes: () => this.#ask((client, key) => client.getContentLength(key), name),
      read: async (position, length) => {
        const answer = await this.#ask(
          (client, key) => client.getObjectRaw(key, false, position, position + length),
          name,
        )
        return new Uint8Array(await answer.arrayBuffer())
      },
      close: async () => undefined,
    }
  }

  async local(name: string): Promise<{ path: string; release(): Promise<void> } | null> {
    const answer = await this.#ask((client, key) => client.getObjectResponse(key), name)
    if (!answer?.body) return null
    const draft = await this.#drafts.create()
    try {
      await pipeline(asParts(answer.body), createWriteStream(draft.path))
      return { path: draft.path, release: draft.discard }
    } catch (error) {
      await draft.discard()
      throw error
    }
  }

  async remove(name: string): Promise<void> {
    await this.#refuseOthers()
    await this.#ask((client, key) => client.deleteObject(key), name)
    await this.#drafts.remove(name)
  }

  async clear(isNamed: (names: string[]) => Promise<ReadonlySet<string>>): Promise<void> {
    // Also claims it at the first start, before any copy could. Without an answer, the first write does.
    if (!(await this.isOurs().catch(() => false))) return
    await this.#drafts.clear(async (names) => {
      const keptNames = await isNamed(names)
      // What is kept is in the bucket already, so no draft stays.
      for (const name of names) if (!keptNames.has(name)) await this.remove(name)
      return new Set()
    })
  }

  async *list(): AsyncGenerator<{ name: string; changedAt: number }> {
    const { prefix } = this.#options
    for (let next: string | undefined; ; ) {
      const page = await this.#ask((client) => client.listObjectsPaged('/', prefix, keysPerPage, next), '')
      for (const { Key, LastModified } of page?.objects ?? [])
        if (!Key.endsWith(ownerName))
          yield { name: Key.slice(prefix.length), changedAt: Number(LastModified) }
      next = page?.nextContinuationToken
      if (!next) return
    }
  }

  /** @throws unavailable if the bucket is another database's, or cannot be reached */
  async #refuseOthers(): Promise<void> {
    if (!(await this.isOurs())) throw unavailable(`${notOurs} Nothing was stored or removed.`, 60)
  }

  async #send({ name, path }: Draft): Promise<void> {
    const file = await openAsBlob(path)
    // In parts, several at a time, if it is long.
    await this.#ask((client, key) => client.putAnyObject(key, file), name)
  }

  /** @throws unavailable when the bucket cannot be reached or refuses */
  async #ask<Value>(request: (client: S3mini, key: string) => Promise<Value>, name: string): Promise<Value> {
    try {
      return await request(await this.#open(), this.#options.prefix + name)
    } catch (error) {
      throw unreachable(error)
    }
  }

  #open(): Promise<S3mini> {
    const { endpoint, region, accessKeyId, secretAccessKey } = this.#options
    this.#client ??= import('s3mini').then(
      ({ S3mini: Client }) =>
        new Client({ endpoint, region, accessKeyId, secretAccessKey, requestAbortTimeout: answerWithinMs }),
    )
    return this.#client
  }
}

async function* asParts(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

function unreachable(error: unknown): AppError {
  const { serviceCode, code, message } = error as { serviceCode?: string; code?: string; message?: string }
  const why = serviceCode ?? code ?? message ?? 'no answer'
  return unavailable(`The bucket for recordings (RECORDINGS_URL) cannot be used: ${why}.`, 30)
}
