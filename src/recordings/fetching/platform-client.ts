import type { Core } from '../../core/core.ts'
import { jsonOf, parseJsonText } from '../../validation.ts'
import { type AddressGuard, type Answer, type Download, download } from './download.ts'
import { FetchFailure } from './failure.ts'

const idleMsDefault = 30_000

/** Why a platform's API has not answered with JSON. */
export interface ApiFailure {
  /** A sentence for people, which quotes nothing. */
  message: string
  /** Null without an answer. */
  status: number | null
  /** How long the platform wants to be left alone. */
  waitMs: number
  /** Whether the same request may be answered later. */
  isPassing: boolean
  isTooLarge: boolean
}

export type ApiAnswer = { value: unknown } | { failure: ApiFailure }

/** Asks platforms' APIs, through the same guard as recordings. */
export class PlatformClient {
  readonly #now: () => number
  readonly #guard: AddressGuard
  readonly #idleMs: number

  constructor({ now }: Core, { guard, idleMs = idleMsDefault }: { guard: AddressGuard; idleMs?: number }) {
    this.#now = now
    this.#guard = guard
    this.#idleMs = idleMs
  }

  /** Asks for JSON of at most so many bytes. @throws once the signal is aborted */
  async ask(request: Download, bytesMax: number, signal: AbortSignal): Promise<ApiAnswer> {
    const [guard, idleMs, now] = [this.#guard, this.#idleMs, this.#now]
    const who = request.label ?? 'The platform'
    try {
      const answer = await download({ ...request, what: 'answer' }, { guard, signal, idleMs, now })
      const text = await readText(answer, bytesMax)
      if (text === null) return { failure: tooLarge(who, bytesMax) }
      const value = parseJsonText(text)
      if (value !== undefined) return { value }
      return { failure: { ...passing, message: `${who} answers with something that is not JSON.` } }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof FetchFailure)) throw error
      const { message, status, waitMs, patience } = error
      const isPassing = status === null ? patience !== 'none' : [408, 429].includes(status) || status >= 500
      return { failure: { ...passing, message, status, waitMs, isPassing } }
    }
  }
}

const passing: Omit<ApiFailure, 'message'> = { status: null, waitMs: 0, isPassing: true, isTooLarge: false }

function tooLarge(who: string, bytesMax: number): ApiFailure {
  const message = `${who} answers with more than ${bytesMax} bytes.`
  return { ...passing, message, isPassing: false, isTooLarge: true }
}

/** A small answer of JSON; undefined for anything else. */
export async function readSmallJson(answer: Answer, bytesMax: number): Promise<unknown> {
  const text = await readText(answer, bytesMax)
  return text === null ? undefined : jsonOf(text)
}

/** Null for an answer of more bytes. */
async function readText({ parts, close }: Answer, bytesMax: number): Promise<string | null> {
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const part of parts) {
    bytes += part.byteLength
    if (bytes > bytesMax) {
      close()
      return null
    }
    read.push(part)
  }
  return Buffer.concat(read).toString()
}
