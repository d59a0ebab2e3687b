import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Core } from '../../core/core.ts'
import { KeyedMutex } from '../../db/keyed-mutex.ts'
import type { Price } from '../../db/schema.ts'
import { inSlices } from '../../db/slices.ts'
import { AppError, callNotFound, callWasDeleted, invalidRequest, unavailable } from '../../errors.ts'
import { callIdPattern } from '../../ids.ts'
import {
  countingInterimMarks,
  isRedacting,
  type RedactionSettings,
  type RedactText,
  redactor,
} from '../../redaction/settings.ts'
import { cutToBytes } from '../../text/cut.ts'
import { TimeSlices, type Work } from '../../threads/time-slices.ts'
import { compileCheck } from '../../validation.ts'
import type { StoredCall } from '../call-head.ts'
import { type Admit, type JsonBytes, readAtOnceCharsMax } from '../document.ts'
import { CallWords } from '../finding/call-words.ts'
import type { WordBacklog } from '../finding/word-backlog.ts'
import {
  type CallChange,
  ForeignChange,
  limitedTextBytesMax,
  limitedTexts,
  type TimelineEntry,
} from '../schemas.ts'
import { ProjectBatches } from './batches.ts'
import { type Audited, type Beside, CallWriter, type PendingWrite } from './call-writer.ts'
import type { CallAnalysis } from './fills.ts'
import { changeErrors, checkChange, endSilently, mergeCall } from './merge.ts'
import type { OwnDetails } from './merge-details.ts'
import { type Redactions, redactChange } from './redaction.ts'
import { readCallChars, readDeletedCalls, readStoredCalls } from './stored-calls.ts'
import { TurnAppender } from './turn-appender.ts'

/** After so many conflicts with other processes, the answer is 503. */
const attemptsMax = 20
/** How many characters of stored documents one transaction merges into. */
const charsPerWriteMax = 8_388_608
/** How many characters one batch merges, some 80 calls, so that no answer waits long for others. */
const batchCharsMax = 262_144
const analysesPerWriteMax = 8
const gatherAnalysesMs = 20

interface IngestParts {
  /** Indexes the words of what is written. */
  wordBacklog: Pick<WordBacklog, 'schedule'>
  /** What models cost in projects without prices of their own. */
  prices: readonly Price[] | null
  /** How long after its completion a call is analyzed, for the platform to say more; null analyzes none. */
  analysisDelayMs: number | null
}

/** A change of a call, from a request or a line. */
interface Input {
  id: string
  change: CallChange
  /** Details that the service sets. */
  own?: OwnDetails
  /** Whether the call ended earlier than now. */
  isImport?: boolean
  /** Whether it is of a platform's history: a call that it creates is announced to nobody and not analyzed. */
  isHistory?: boolean
  /** Whether it is an event of a platform, in which long texts of tools are cut. */
  isEvent?: boolean
  /** Whether a cost that was computed is computed again. */
  isRepriced?: boolean
  /** Set when a person or the service changes a stored call: the call is not created, and the audit trail records it. */
  audited?: Audited
  beside?: Beside
  /** Called before a long document is read or made. */
  admit?: Admit | undefined
  /** Whether nobody wants the call in the answer, whose document is empty then. */
  isMinimal?: boolean
  storedChars?: number
  /** What was already redacted in the change. */
  redactions?: Redactions
}

interface IngestedCall {
  document: string | JsonBytes
  isNew: boolean
  /** Whether anything was written. */
  isChanged: boolean
}

type Result = IngestedCall | AppError
/** Has no document: many changes of a long call would each keep a copy. */
export type Outcome = Pick<IngestedCall, 'isNew' | 'isChanged'> | AppError

/** Creates calls and merges changes into them, one or many at a time. */
export class Ingest {
  readonly #parts: Core & IngestParts
  readonly #writer: CallWriter
  readonly #appender: TurnAppender
  readonly #mutex = new KeyedMutex()
  readonly #longMutex = new KeyedMutex()
  readonly #slices = new TimeSlices()
  readonly #batches = new ProjectBatches<Input, Result>((projectId) => ({
    run: (inputs) => this.#mergeAndWrite(projectId, inputs),
    sizeOf: charsOf,
    sizeMax: batchCharsMax,
  }))

  /** Nobody waits for them, so several share a transaction. */
  readonly #analyses = new ProjectBatches<Input, Outcome>((projectId) => ({
    run: (inputs) => this.#putAnalyses(projectId, inputs),
    sizeOf: () => 1,
    sizeMax: analysesPerWriteMax,
    gatherMs: gatherAnalysesMs,
  }))

  constructor(core: Core, parts: IngestParts) {
    this.#parts = { ...core, ...parts }
    const words = new CallWords()
    this.#writer = new CallWriter(core, { ...parts, words })
    this.#appender = new TurnAppender(core, { words })
  }

  /** Creates the call or merges the change into it; committed when it returns. */
  async put(
    projectId: number,
    id: string,
    change: CallChange,
    options: Pick<Input, 'admit' | 'isEvent' | 'isMinimal' | 'own'> = {},
  ): Promise<IngestedCall> {
    const { read } = this.#parts.store(projectId)
    const storedChars = (await readCallChars(read, projectId, [id])).get(id) ?? 0
    const isLong = storedChars > readAtOnceCharsMax
    const ownInput = { id, change, storedChars, ...options }
    const [input = ownInput] = await this.#redacted(projectId, [ownInput])
    const result = await this.#mutex.run(namesOf(projectId, [input]), () =>
      this.#putOne(projectId, input, isLong),
    )
    if (result instanceof AppError) throw result
    return options.isMinimal ? { ...result, document: '' } : result
  }

  /** The same for a platform's event, which is checked like a request's body. @param source the platform's name */
  async putEvent(projectId: number, id: string, event: object, source: string): Promise<void> {
    await this.put(projectId, id, checkEvent(event), {
      own: { source },
      isEvent: true,
      isMinimal: true,
    })
  }

  /**
   * The same for events that a platform was asked for, many at a time; those that are no news are history. The result of
   * one that cannot be written is an error.
   */
  async putHistory(
    projectId: number,
    events: readonly { id: string; event: object; isNews: boolean }[],
    source: string,
  ): Promise<Outcome[]> {
    const checked = events.map(({ id, event, isNews }) => {
      const change = resultOf(() => checkEvent(event))
      return change instanceof AppError
        ? change
        : { id, change, own: { source }, isEvent: true, isHistory: !isNews, isImport: true }
    })
    const inputs = checked.flatMap((each) => (each instanceof AppError ? [] : each))
    const outcomes = await this.putAll(projectId, inputs)
    return checked.map((each) => (each instanceof AppError ? each : outcomes.shift()) ?? tooContended())
  }

  /**
   * Sets what is told of a call's recording, or of its sound, together with what is stored of it. With `audited` the call
   * must exist.
   * @throws as `put`; not_found; what `beside` requires
   */
  async setRecording(
    projectId: number,
    id: string,
    own: Pick<OwnDetails, 'recording' | 'speech'>,
    { beside, audited }: Pick<Input, 'beside' | 'audited'>,
  ): Promise<void> {
    const input = {
      id,
      change: {},
      own,
      ...(beside && { beside }),
      ...(audited && { audited }),
    }
    const [result] = await this.putAll(projectId, [input])
    if (result instanceof AppError) throw result
  }

  /**
   * Sets what our analysis found out about a call that exists, together with `beside`.
   * @throws as `put`; not_found; what `beside` requires
   */
  async setAnalysis(projectId: number, id: string, analysis: CallAnalysis, beside: Beside): Promise<void> {
    const input = { id, change: {}, own: { analysis }, beside, audited: { actions: [] } }
    const result = await this.#analyses.add(projectId, input)
    if (result instanceof AppError) throw result
  }

  /**
   * Creates or changes many calls, in one transaction with a constant number of statements unless they are long. The
   * result of a call that cannot be written is an error; the others are written.
   */
  async putAll(projectId: number, unredacted: readonly Input[]): Promise<Outcome[]> {
    const inputs = await this.#redacted(projectId, unredacted)
    return await this.#mutex.run(namesOf(projectId, inputs), async () => {
      const { read } = this.#parts.store(projectId)
      const chars = await readCallChars(read, projectId, idsOf(inputs))
      const areLong = [...chars.values()].some((charCount) => charCount > readAtOnceCharsMax)
      const sizes = inputs.map(({ id }, position) => [position, chars.get(id) ?? 0] as const)
      const results: Outcome[] = []
      for (const positions of inSlices(sizes, charsPerWriteMax)) {
        const some = positions.flatMap((position) => {
          const input = inputs[position]
          return input ? { ...input, storedChars: sizes[position]?.[1] } : []
        })
        const putSome = () => this.#mergeAndWrite(projectId, some)
        for (const result of await (areLong ? this.#inTurn(putSome) : putSome())) {
          results.push(result instanceof AppError ? result : outcomeOf(result))
        }
      }
      return results
    })
  }

  /**
   * Completes those of these calls that are live and of which nothing was heard since a time.
   * @param heardBefore milliseconds since 1970
   * @returns how many
   */
  async endSilent(projectId: number, ids: readonly string[], heardBefore: number): Promise<number> {
    const inputs = ids.map((id) => ({ id, change: {} }))
    return await this.#mutex.run(namesOf(projectId, inputs), async () => {
      const { read } = this.#parts.store(projectId)
      const writes: PendingWrite[] = []
      const prices = await this.#pricesOf(projectId)
      for (const [id, { stored, changeSeq, hasParts }] of await readStoredCalls(read, projectId, ids)) {
        const { call, heardAt } = stored
        if (call.status !== 'live' || heardAt === null || heardAt > heardBefore) continue
        const after = endSilently(stored, this.#parts.now(), prices)
        writes.push({ id, seenChangeSeq: changeSeq, before: stored, after, hadParts: hasParts })
      }
      return (await this.#writer.write(projectId, writes)).size
    })
  }

  async #pricesOf(projectId: number): Promise<readonly Price[] | null> {
    return (await this.#parts.settingsOf(projectId)).prices ?? this.#parts.prices
  }

  /** Writes each alone if one of them requires what does not hold. */
  async #putAnalyses(projectId: number, inputs: readonly Input[]): Promise<Outcome[]> {
    try {
      return await this.putAll(projectId, inputs)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (inputs.length === 1) return [error]
    }
    const outcomes: Outcome[] = []
    for (const input of inputs) outcomes.push(...(await this.#putAnalyses(projectId, [input])))
    return outcomes
  }

  /** Every change of a call is redacted here, and its long texts are cut, before anything is written. */
  async #redacted(projectId: number, inputs: readonly Input[]): Promise<readonly Input[]> {
    const settings = await this.#parts.settingsOf(projectId)
    // Text that a source has stored may have interim marks, which are counted now.
    if (!isRedacting(settings) && !inputs.some(({ own }) => own?.source)) return inputs.map(withCutTexts)
    const redact = await redactor(settings)
    // Cut last: half of a phone number would not be recognized.
    return (await this.#slices.run(redactAll(inputs, settings, redact))).map(withCutTexts)
  }

  async #putOne(projectId: number, input: Input, isLong: boolean): Promise<Result> {
    const append = () => this.#appender.append(projectId, input)
    const admitLong = () => input.admit?.(input.storedChars ?? 0)
    const appendLong = () => {
      admitLong()
      return append()
    }
    // An append without an answer reads no document.
    const appended = await (isLong && !input.isMinimal ? this.#inTurn(appendLong) : append())
    if (appended) return { ...appended, isChanged: true }
    if (!isLong) return await this.#batches.add(projectId, input)
    const [result] = await this.#inTurn(() => {
      if (input.isMinimal) admitLong()
      return this.#mergeAndWrite(projectId, [input])
    })
    if (!result) throw new Error('Each input has its result')
    return result
  }

  /** Changes long calls one at a time, so that other requests get a turn. */
  async #inTurn<Value>(put: () => Promise<Value>): Promise<Value> {
    return await this.#longMutex.run(longCalls, async () => {
      await setImmediate()
      return await put()
    })
  }

  /**
   * Merges and writes. Retries calls that another process has changed in between. A call that was not stored when its
   * request arrived is first taken for a new one, which saves two reads: the write finds out whether it is.
   */
  async #mergeAndWrite(projectId: number, inputs: readonly Input[]): Promise<Result[]> {
    const results: Result[] = new Array(inputs.length)
    let open = inputs.map((input, position) => ({ ...input, position }))
    for (let attempt = 0; open.length > 0; attempt++) {
      const isTakenForNew = ({ storedChars }: Input) => attempt === 0 && storedChars === 0
      const inputsToRead = open.filter((input) => !isTakenForNew(input))
      const { merged, writes, heardIds } = await this.#merge(projectId, open, idsOf(inputsToRead))
      const outcome = await this.#writeOnce(projectId, writes, attempt)
      // What was sent is stored already, so it is answered even if the arrival cannot be noted, as on a full disk.
      await this.#writer.hear(projectId, heardIds, this.#parts.now()).catch(() => undefined)
      if (outcome instanceof AppError) {
        // Calls that an earlier attempt has written keep their results.
        for (const { position } of open) results[position] = outcome
        break
      }
      open = open.filter(({ id, position, ...input }, at) => {
        const result = merged[at]
        if (!result) throw new Error('Each input is merged')
        const isLost =
          result instanceof AppError ? isTakenForNew({ id, ...input }) : writes.has(id) && !outcome.has(id)
        if (!isLost) results[position] = result
        return isLost
      })
    }
    return results
  }

  /** @returns the ids that were written, or why a later attempt has written none */
  async #writeOnce(projectId: number, writes: Map<string, PendingWrite>, attempt: number) {
    if (attempt === attemptsMax) return tooContended()
    return await this.#writer.write(projectId, [...writes.values()]).catch((error) => {
      if (attempt > 0 && error instanceof AppError) return error
      throw error
    })
  }

  /** Several changes of one call are merged in order. @param idsToRead the ids to look for; others are taken for new */
  async #merge(projectId: number, inputs: readonly Input[], idsToRead: readonly string[]) {
    const { store, recordHash } = this.#parts
    const { read } = store(projectId)
    const prices = await this.#pricesOf(projectId)
    const storedCalls = await readStoredCalls(read, projectId, idsToRead)
    const deletedIds = await readDeletedCalls(read, projectId, idsToRead, recordHash)
    const writes = new Map<string, PendingWrite>()
    /** Calls that sent only what is stored already. */
    const heardIds = new Set<string>()
    const mergeOne = (input: Input): IngestedCall => {
      const { id, change, own, audited, beside, admit, isImport, isHistory, isRepriced, redactions } = input
      if (audited && !storedCalls.has(id)) throw callNotFound()
      checkId(id)
      if (deletedIds.has(id)) {
        // An invalid request is 400 even for a deleted call.
        checkChange(id, change)
        throw callWasDeleted()
      }
      const { stored: first = null, changeSeq = null, hasParts = false } = storedCalls.get(id) ?? {}
      const before = writes.get(id)?.after ?? first
      const options = {
        own,
        isImport,
        isHeard: !audited,
        redactions,
        prices,
        isRepriced: isRepriced ?? false,
      }
      const after = mergeCall(before, id, change, this.#parts.now(), options)
      const isChanged = !before || !isSame(before, after)
      if (isChanged || beside) {
        this.#checkSize(after)
        // A call that was long already has been admitted.
        const chars = charsStored(after)
        if (chars > readAtOnceCharsMax && charsStored(before) <= readAtOnceCharsMax) admit?.(chars)
        const write = { id, seenChangeSeq: changeSeq, before: first, after, hadParts: hasParts }
        writes.set(id, { ...write, audited, beside, isHistory })
      } else if (after.heardAt !== before.heardAt) heardIds.add(id)
      return { document: after.document, isNew: !before, isChanged }
    }
    return { merged: inputs.map((input) => resultOf(() => mergeOne(input))), writes, heardIds: [...heardIds] }
  }

  #checkSize({ document, details }: StoredCall): void {
    const { callBytesMax } = this.#parts.config
    if (Buffer.byteLength(document) + Buffer.byteLength(details ?? '') <= callBytesMax) return
    const detail = `A call, with its details, can have at most ${callBytesMax} bytes of JSON (CALL_MAX_BYTES). Nothing was written.`
    throw new AppError('payload_too_large', 'Payload too large', { detail })
  }
}

const checkEvent = compileCheck(ForeignChange, changeErrors)
/** What is kept of what a tool of a platform received or returned. */
const toolTextBytesMax = 16_384
const longCalls = new Set(['long calls'])
/** The characters of a turn's JSON, apart from its text. */
const turnChars = 40

function* redactAll(
  inputs: readonly Input[],
  settings: RedactionSettings,
  redact: RedactText,
): Work<Input[]> {
  const redactedInputs: Input[] = []
  for (const input of inputs) {
    yield
    const redactOne = input.own?.source ? countingInterimMarks(redact) : redact
    redactedInputs.push({ ...input, ...(yield* redactChange(input.change, settings, redactOne)) })
  }
  return redactedInputs
}

function withCutTexts(input: Input): Input {
  const change = { ...input.change }
  for (const field of limitedTexts) {
    const text = change[field]
    if (text) change[field] = cutToBytes(text, limitedTextBytesMax)
  }
  const { timeline } = change.details ?? {}
  if (input.isEvent && timeline) change.details = { ...change.details, timeline: timeline.map(withCutText) }
  return { ...input, change }
}

function withCutText(entry: TimelineEntry): TimelineEntry {
  return entry.text ? { ...entry, text: cutToBytes(entry.text, toolTextBytesMax) } : entry
}

function charsStored(call: StoredCall | null): number {
  return call ? call.document.length + (call.details?.length ?? 0) : 0
}

/** Roughly how many characters are merged: those of the stored call and of the change. */
function charsOf({ change: { transcript, appendTranscript, ...others }, storedChars = 0 }: Input): number {
  const turns = transcript ?? appendTranscript?.turns ?? []
  return turns.reduce(
    (chars, { content }) => chars + turnChars + content.length,
    storedChars + JSON.stringify(others).length,
  )
}

function outcomeOf({ isNew, isChanged }: IngestedCall): Outcome {
  return { isNew, isChanged }
}

function namesOf(projectId: number, inputs: readonly Input[]): Set<string> {
  return new Set(inputs.map(({ id }) => `${projectId} ${id}`))
}

function idsOf(inputs: readonly Input[]): string[] {
  return inputs.map(({ id }) => id)
}

/** An error for the client becomes a result. */
function resultOf<Value>(merge: () => Value): Value | AppError {
  try {
    return merge()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** Whether nothing differs but the time of the last arrival. */
function isSame(
  { call: _, heardAt: a, ...before }: StoredCall,
  { call: __, heardAt: b, ...after }: StoredCall,
) {
  return (a === null) === (b === null) && isDeepStrictEqual(before, after)
}

/** @param id null if the path's escapes are not UTF-8, although the router's types do not say so @throws invalid_request */
export function checkId(id: string | null): void {
  if (id !== null && callIdPattern.test(id)) return
  const message = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, and neither . nor ..'
  throw invalidRequest([{ field: 'id', message }])
}

function tooContended(): AppError {
  return unavailable('Too many requests are changing this call at once. Nothing was written.')
}
