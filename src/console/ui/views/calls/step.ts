import { type Step as PairedStep, stepsOf as pairedSteps } from '../../../../calls/reading/steps.ts'
import type { TimelineEntry } from '../../../../calls/schemas.ts'

const messageCharsMax = 300
/** Longer answers are not read: an error is short. */
const answerCharsMax = 20_000
const mayFail = /error|fail|exception|"success"|"ok"|"status/i
const failedStatus = /^(error|failed|failure)$/i
const failedText = /^\s*(error|failed|failure|exception|traceback|http (4|5)\d\d)\b/i
// The answers of this service: POST /v1/knowledge/search and its tools as JSON, or passages by MCP.
const inJson =
  /"(?:itemId|document_id)"\s*:\s*"([A-Za-z0-9._-]{1,128})"(?:\s*,\s*"name"\s*:\s*("(?:[^"\\]|\\.)*"))?/g
const inUuid = /"uuid"\s*:\s*"([A-Za-z0-9._-]{1,128}):\d+"/g
const inPassage = /^(.{1,300}) \(item ([A-Za-z0-9._-]{1,128})\)$/gm

/** A knowledge item that a tool answered with. */
export interface RetrievedItem {
  id: string
  /** Null where the answer does not say it. */
  name: string | null
}

/** What happened between two turns, and what a tool's answer says. */
export interface Step extends PairedStep {
  /** Why the tool failed, as its answer says; null if it did not. */
  failure: string | null
  /** The knowledge items in the answer. */
  retrieved: RetrievedItem[]
}

/** Pairs each tool's call with the next answer of its name. @param entries in order of time, without turns */
export function stepsOf(entries: readonly TimelineEntry[]): Step[] {
  return pairedSteps(entries).map((step) => {
    const text = step.answer?.text ?? ''
    return { ...step, failure: failureIn(text), retrieved: retrievedIn(text) }
  })
}

/** How long a tool took; null where it is not known. */
export function secondsOf({ began, answer }: Step): number | null {
  return began && answer ? answer.atSeconds - began.atSeconds : null
}

/** The names of steps, each once. */
export function stepNames(steps: readonly Step[]): string[] {
  return [...new Set(steps.map(stepName))]
}

export function stepName({ kind, name }: Step): string {
  if (kind === 'transfer') return name ? `Transferred to ${name}` : 'Transferred'
  return name ?? (kind === 'other' ? 'Event' : 'Tool')
}

/**
 * Why a tool failed, as far as its answer says so; null if it does not. Platforms have no field for it, so this reads what
 * tools usually answer: a text that begins with an error, or JSON with an error, a failed status, or `success: false`.
 */
function failureIn(answer: string): string | null {
  if (answer.length > answerCharsMax || !mayFail.test(answer)) return null
  const value = parsed(answer)
  if (typeof value === 'string') return failedText.test(value) ? cut(value) : null
  if (!isRecord(value)) return null
  const { error, errors, message, status, statusCode, success, ok, isError, is_error } = value
  const told = messageOf(error) ?? messageOf(errors)
  const hasFailed =
    told !== null ||
    success === false ||
    ok === false ||
    isError === true ||
    is_error === true ||
    (typeof status === 'string' && failedStatus.test(status)) ||
    isHttpError(status) ||
    isHttpError(statusCode)
  return hasFailed ? cut(told ?? messageOf(message) ?? answer) : null
}

/** The text of an error, which may be an object with a message, or a list of them. */
function messageOf(error: unknown): string | null {
  if (typeof error === 'string') return error || null
  if (error === true) return 'Error'
  if (Array.isArray(error)) return messageOf(error[0])
  if (!isRecord(error)) return null
  return messageOf(error.message) ?? messageOf(error.detail) ?? JSON.stringify(error)
}

function isHttpError(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 600
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not every tool answers with JSON.
    return text
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cut(text: string): string {
  return text.length > messageCharsMax ? `${text.slice(0, messageCharsMax)}…` : text
}

/** The knowledge items in a tool's answer, each once, in order. Other answers have none. */
function retrievedIn(answer: string): RetrievedItem[] {
  const items = new Map<string, RetrievedItem>()
  const add = (id: string | undefined, name: string | null) => {
    if (id !== undefined && !items.get(id)?.name) items.set(id, { id, name })
  }
  // An answer may be JSON inside a JSON string.
  const plain = /\\"(?:itemId|document_id|uuid)\\"/.test(answer) ? answer.replaceAll('\\"', '"') : answer
  for (const [, id, name] of plain.matchAll(inJson)) add(id, unquoted(name))
  for (const [, id] of plain.matchAll(inUuid)) add(id, null)
  for (const [, heading, id] of plain.matchAll(inPassage)) add(id, heading?.split(' › ')[0] ?? null)
  return [...items.values()]
}

function unquoted(quoted: string | undefined): string | null {
  if (quoted === undefined) return null
  try {
    return JSON.parse(quoted)
  } catch {
    // The text was cut, or only looked like JSON.
    return null
  }
}
