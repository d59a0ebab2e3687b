import { type FieldError, invalidRequest } from '../errors.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { Reader, ResponseBuffers } from '../http/response-buffers.ts'
import { type ChangeEntry, type ChangePage, type Changes, type ChangesRequest, charsOf } from './changes.ts'
import { type Include, includes } from './schemas.ts'

const limitDefault = 100
const changesPerPageMax = 1_000
const waitSecondsMax = 30
/** How long a client waits before it reconnects to a broken stream. */
const reconnectMs = 1_000
const wholeNumber = /^[0-9]{1,15}$/
const eventsType = /^\s*text\/event-stream\s*(;|$)/i
const eventHeaders = new Headers(jsonHeaders)
eventHeaders.set('Content-Type', 'text/event-stream; charset=utf-8')
// Keeps nginx from buffering events.
eventHeaders.set('X-Accel-Buffering', 'no')

interface ChangesQuery extends ChangesRequest {
  include: Include
  waitMs: number
  /** Whether the answer is a stream of events. */
  isStream: boolean
}

/** @throws invalid_request naming each parameter that cannot be read */
export function readChangesQuery(query: Record<string, string | undefined>, headers: Headers): ChangesQuery {
  const { after = '0', limit = String(limitDefault), wait = '0', include = 'call' } = query
  const isStream = (headers.get('accept') ?? '').split(',').some((type) => eventsType.test(type))
  const lastEventId = headers.get('last-event-id')
  const numbers = { after, limit, wait, ...(lastEventId ? { 'Last-Event-ID': lastEventId } : {}) }
  const errors: FieldError[] = Object.entries(numbers)
    .filter(([, value]) => !wholeNumber.test(value))
    .map(([field]) => ({ field, message: 'must be a whole number of at most 15 digits' }))
  const included = includes.find((each) => each === include)
  if (!included) errors.push({ field: 'include', message: 'must be call, details or none' })
  if (errors.length > 0) throw invalidRequest(errors)
  return {
    after: Number((isStream && lastEventId) || after),
    // A stream has no pages, so its limit does not matter to readers.
    limit: isStream ? limitDefault : Math.min(Number(limit), changesPerPageMax),
    waitMs: Math.min(Number(wait), waitSecondsMax) * 1_000,
    include: included ?? 'call',
    isStream,
  }
}

/** A page as JSON, streamed. */
export async function toChangesResponse(
  reader: Reader,
  page: ChangePage,
  entries: AsyncIterable<ChangeEntry[]>,
  { include, buffers }: { include: Include; buffers: ResponseBuffers },
): Promise<Response> {
  const { changes, next, hasMore } = page
  const tail = `],"next":${next},"hasMore":${hasMore}}`
  const largest = Math.max(0, ...changes.map((change) => charsOf(change, include)))
  const body = await buffers.streamOf(reader, '{"data":[', joinedSlices(entries), tail, largest)
  return new Response(body, { headers: jsonHeaders })
}

async function* joinedSlices(slices: AsyncIterable<ChangeEntry[]>): AsyncGenerator<string> {
  let comma = ''
  for await (const slice of slices) {
    if (slice.length === 0) continue
    yield comma + slice.map(({ json }) => json).join(',')
    comma = ','
  }
}

/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
export function toEventsResponse(body: ReadableStream<Uint8Array> | null): Response {
  return new Response(body, { headers: eventHeaders })
}

/** @param slices null when there are no changes, which becomes a comment, so that the connection is not idle */
export async function* toEvents(slices: ReturnType<Changes['follow']>): AsyncGenerator<string> {
  yield `retry: ${reconnectMs}\n\n`
  for await (const slice of slices) {
    if (slice === null) yield ':\n\n'
    else if (slice.length > 0) yield slice.map(toEvent).join('')
  }
}

/**
 * The same for the console's pages. The first event has the number at which the stream begins. Later ones show that it
 * is alive, which pages do not see from comments.
 */
export async function* toConsoleEvents(
  after: number,
  slices: ReturnType<Changes['follow']>,
): AsyncGenerator<string> {
  yield `retry: ${reconnectMs}\nid: ${after}\nevent: alive\ndata: {}\n\n`
  for await (const slice of slices) {
    if (slice === null) yield 'event: alive\ndata: {}\n\n'
    else if (slice.length > 0) yield slice.map(toEvent).join('')
  }
}

function toEvent({ seq, type, json }: ChangeEntry): string {
  return `id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`
}
