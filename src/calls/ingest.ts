import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { KeyedMutex } from '../db/keyed-mutex.ts'
import type { RecordHash } from '../db/record-hash.ts'
import { inSlices } from '../db/slices.ts'
import type { StoreOf } from '../db/store.ts'
import { AppError, invalidRequest } from '../errors.ts'
import type { StoredCall } from './call-head.ts'
import { CallWriter, type PendingWrite } from './call-writer.ts'
import { type Admit, isLong } from './document.ts'
import { checkChange, mergeCall } from './merge.ts'
import { type CallChange, callIdPattern } from './schemas.ts'
import { readDeletedCalls, readLongCalls, readStoredCalls } from './stored-calls.ts'

/** Attempts to read, merge and write before the answer is that other processes change the call too fast. */
const attemptsMax = 20
/** Characters of stored documents that one transaction merges into. */
const charsPerWriteMax = 8_388_608

interface IngestOptions {
  store: StoreOf
  recordHash: RecordHash
  /** The most bytes that a call's document may have. */
  config: { readonly callBytesMax: number }
  now: () => number
}

/** What a request or a line says of a call. */
interface Input {
  id: string
  change: CallChange
}

export interface IngestedCall {
  document: string
  isNew: boolean
}

type Result = IngestedCall | AppError

/** How platforms and imports bring calls in: create or merge, one or many at a time. */
export class Ingest {
  readonly #options: IngestOptions
  readonly #writer: CallWriter
  readonly #mutex = new KeyedMutex()
  readonly #longMutex = new KeyedMutex()

  constructor(options: IngestOptions) {
    this.#options = options
    this.#writer = new CallWriter(options)
  }

  /** Creates the call or merges the change into it; committed when it returns. */
  async put(
    projectId: number,
    id: string,
    change: CallChange,
    admit: Admit = admitAll,
  ): Promise<IngestedCall> {
    const inputs = [{ id, change }]
    const chars = (await this.#readLong(projectId, inputs)).get(id) ?? 0
    // Before its turn, so that the number of requests that wait for theirs is bounded.
    if (chars > 0) admit(chars)
    const [result] = await this.#mutex.run(namesOf(projectId, inputs), () =>
      this.#putSome(projectId, inputs, chars > 0, admit),
    )
    if (!result) throw new Error('Each input has its result')
    if (result instanceof AppError) throw result
    return result
  }

  /**
   * The same for many calls, in one transaction of a constant number of statements unless they are long. A call that
   * cannot be written has its error as its result, and the others are written.
   */
  putAll(projectId: number, inputs: readonly Input[]): Promise<(Pick<IngestedCall, 'isNew'> | AppError)[]> {
    return this.#mutex.run(namesOf(projectId, inputs), async () => {
      const long = await this.#readLong(projectId, inputs)
      const sizes = inputs.map(({ id }, position) => [position, long.get(id) ?? 0] as const)
      const results: (Pick<IngestedCall, 'isNew'> | AppError)[] = []
      for (const positions of inSlices(sizes, charsPerWriteMax)) {
        const some = positions.flatMap((position) => inputs[position] ?? [])
        for (const result of await this.#putSome(projectId, some, long.size > 0, admitAll)) {
          // Without the document: many changes of one long call make as many.
          results.push(result instanceof AppError ? result : { isNew: result.isNew })
        }
      }
      return results
    })
  }

  /** Long calls are merged one at a time, and other requests are answered in between. */
  async #putSome(
    projectId: number,
    inputs: readonly Input[],
    areLong: boolean,
    admit: Admit,
  ): Promise<Result[]> {
    if (!areLong) return await this.#mergeAndWrite(projectId, inputs, admit)
    return await this.#longMutex.run(longCalls, async () => {
      await setImmediate()
      return await this.#mergeAndWrite(projectId, inputs, admit)
    })
  }

  /** Merges and writes again what another process has changed in between. */
  async #mergeAndWrite(projectId: number, inputs: readonly Input[], admit: Admit): Promise<Result[]> {
    const results: Result[] = new Array(inputs.length)
    let open = inputs.map((input, position) => ({ ...input, position }))
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt === attemptsMax) throw tooContended()
      const { merged, writes } = await this.#merge(projectId, open, admit)
      const written = await this.#writer.write(projectId, [...writes.values()])
      open = open.filter(({ id, position }, at) => {
        const result = merged[at]
        if (!result) throw new Error('Each input is merged')
        const isLost = !(result instanceof AppError) && writes.has(id) && !written.has(id)
        if (!isLost) results[position] = result
        return isLost
      })
    }
    return results
  }

  /** Several changes of one call build on each other, in their order. */
  async #merge(projectId: number, inputs: readonly Input[], admit: Admit) {
    const { read } = this.#options.store(projectId)
    const [stored, deleted] = await Promise.all([
      readStoredCalls(read, projectId, idsOf(inputs)),
      this.#readDeleted(projectId, inputs),
    ])
    const writes = new Map<string, PendingWrite>()
    const mergeOne = ({ id, change }: Input): IngestedCall => {
      checkId(id)
      if (deleted.has(id)) {
        // What is wrong with a request is wrong whatever is stored.
        checkChange(id, change)
        throw callWasDeleted()
      }
      const { stored: first = null, changeSeq = null } = stored.get(id) ?? {}
      const before = writes.get(id)?.after ?? first
      const after = mergeCall(before, id, change, this.#options.now())
      if (!before || !isSame(before, after)) {
        this.#checkSize(after.document)
        // A call that was long before has been admitted already.
        if (isLong(after.document) && !(before && isLong(before.document))) admit(after.document.length)
        writes.set(id, { id, seenChangeSeq: changeSeq, before: first, after })
      }
      return { document: after.document, isNew: !before }
    }
    return { merged: inputs.map((input) => resultOf(() => mergeOne(input))), writes }
  }

  #checkSize(document: string): void {
    const { callBytesMax } = this.#options.config
    if (Buffer.byteLength(document) > callBytesMax) throw callTooLarge(callBytesMax)
  }

  #readLong(projectId: number, inputs: readonly Input[]): Promise<Map<string, number>> {
    return readLongCalls(this.#options.store(projectId).read, projectId, idsOf(inputs))
  }

  async #readDeleted(projectId: number, inputs: readonly Input[]): Promise<Set<string>> {
    const { store, recordHash } = this.#options
    const idByHash = new Map(inputs.map(({ id }) => [recordHash(projectId, 'call', id), id]))
    const hashes = await readDeletedCalls(store(projectId).read, projectId, idByHash.keys())
    return new Set(hashes.flatMap((hash) => idByHash.get(hash) ?? []))
  }
}

const longCalls = new Set(['long calls'])
const admitAll = () => undefined

function namesOf(projectId: number, inputs: readonly Input[]): Set<string> {
  return new Set(inputs.map(({ id }) => `${projectId} ${id}`))
}

function idsOf(inputs: readonly Input[]): string[] {
  return inputs.map(({ id }) => id)
}

/** An error that a client is answered with is a result like any other. */
function resultOf(merge: () => IngestedCall): Result {
  try {
    return merge()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function isSame({ call: _, ...a }: StoredCall, { call: __, ...b }: StoredCall): boolean {
  return isDeepStrictEqual(a, b)
}

/** @param id null for a path whose escapes are not UTF-8, whatever the router's types say */
function checkId(id: string | null): void {
  if (id !== null && callIdPattern.test(id)) return
  const message = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, and neither . nor ..'
  throw invalidRequest([{ field: 'id', message }])
}

function callWasDeleted(): AppError {
  return new AppError('call_was_deleted', 'Call was deleted', {
    detail: 'A deleted call stays deleted; its id cannot be used again.',
  })
}

function callTooLarge(bytesMax: number): AppError {
  return new AppError('payload_too_large', 'Payload too large', {
    detail: `A call has at most ${bytesMax} bytes of JSON (CALL_MAX_BYTES); nothing was written.`,
  })
}

function tooContended(): AppError {
  return new AppError('unavailable', 'Service unavailable', {
    detail: 'The call is being changed by too many requests at once; nothing was written.',
    retryAfterSeconds: 1,
  })
}
