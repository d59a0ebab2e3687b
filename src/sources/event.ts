import type { Fields } from './fields.ts'

/** What a platform tells about a call: fields of `PUT /ingest/calls/:id`. Unknown ones are absent, never null. */
export interface CallFields {
  status?: 'live' | 'completed'
  duration?: number
  summary?: string
  evaluation?: string
  endedReason?: string
  callerNumber?: string
  calledNumber?: string
  isEngaged?: boolean
  callAnalysis?: Record<string, unknown>
  transcript?: SourceTurn[]
  createdAt?: string
  occurredAt?: string
}

export interface SourceTurn {
  role: 'user' | 'assistant'
  content: string
}

/** What a platform tells beyond a call's thirteen fields. */
export interface SourceDetails {
  agent?: { id: string; name?: string; version?: string }
  direction?: 'inbound' | 'outbound' | 'web'
  recordingUrl?: string
  costUsd?: number
  latencyMs?: number
  costParts?: CostPart[]
  usage?: Usage[]
  timeline?: TimelineEntry[]
  metadata?: Record<string, unknown>
}

export type CostPart = { name: string; usd: number; kind?: string; provider?: string; model?: string }

/** What was used of a model. */
export type Usage = { kind: 'llm' | 'stt' | 'tts'; provider?: string; model?: string } & {
  [Name in (typeof usageCounts)[number]]?: number
}
export const usageCounts = [
  ...(['inputTokens', 'cachedTokens', 'cacheWriteTokens', 'audioInputTokens'] as const),
  ...(['outputTokens', 'audioOutputTokens', 'characters', 'seconds'] as const),
] as const

export interface TimelineEntry {
  atSeconds: number
  kind: 'turn' | 'tool_call' | 'tool_result' | 'transfer' | 'other'
  /** Index of the turn in the transcript. */
  turn: number | null
  name: string | null
  text: string | null
  /** Whether the caller interrupted the turn. */
  interrupted?: boolean
  agentId?: string | null
  /** What the caller waited for before the turn. */
  latencyMs?: TurnLatency | null
}

/** Latencies in milliseconds. */
export type TurnLatency = Partial<
  Record<'total' | 'endOfTurn' | 'transcription' | 'model' | 'voice' | 'tool', number>
>

export interface SourceUpdate {
  /** The platform's own id for the call. */
  id: string
  change: CallFields
  details: SourceDetails
}

/** Why an event cannot be mapped: a field that is not as expected. */
export interface Fault {
  field: string
  message: string
}

/** A request whose signature is to be checked before its body is parsed. */
export interface SignedRequest {
  headers: Headers
  body: Uint8Array
  /** When the event arrived. */
  now: number
}

/** What the user tells about a source because no event does, such as `direction`. */
export type SourceOptions = Readonly<Record<string, string>>

/** A recording that an event names. */
export interface NamedRecording {
  /** Where it is, often for a short time; absent if only the platform's API gives it. */
  url?: string
  /** When the address expires, if the event says so. */
  urlExpiresAt?: number
  /** What the platform's API calls it, if that is not the call's id. */
  reference?: string
}

/** Where a platform keeps recordings. */
export interface RecordingPlace {
  /** Null for an event that names none. @throws FieldFault */
  recordingIn(event: Fields, options: SourceOptions): NamedRecording | null
  /** Where its API is, unless the source's option `host` says otherwise. */
  api: string
  /** What to ask the API for. The answer is the recording, leads to it, or has its address. */
  request(
    call: { id: string; reference: string | null },
    apiKey: string,
  ): { path: string; headers: Record<string, string> }
  /** The address in an answer of JSON. @throws FieldFault */
  addressIn?(answer: Fields): string | undefined
}

/** From ≤ t < to, in milliseconds since 1970. */
export interface Span {
  from: number
  to: number
}

/** A request to a platform's API. With a body it is a POST. */
export interface ApiRequest {
  path: string
  body?: object
}

/** Which page of a list of calls is asked for. */
export interface AskedPage {
  span: Span
  /** Null for the first page. */
  cursor: string | null
  pageSize: number
  /** Whose calls, of a platform that lists each agent's; empty of others. */
  agent: string
}

/** What becomes of a call of the past. Only one that has ended is written. */
export type CallFate = 'ended' | 'live' | 'notVoice' | 'test' | 'deletedThere' | 'unmatched'

/** A page of a platform's list of calls. */
export interface HistoryPage {
  /** Unlike the rest of the answer, each is checked for itself. */
  items: unknown[]
  /** What `page` takes for the next one; null on the last. */
  next: string | null
}

/** How a platform lists its calls, and how what it lists maps to its own events. */
export interface CallHistory {
  /** Null where each user has a server of their own. */
  api: string | null
  headers(apiKey: string): Record<string, string>
  /** The calls of a page, and the requests at once. */
  pageSize: number
  atOnce: number
  /** Whether pages may be empty though others follow, as windows of time are. */
  hasEmptyPages?: boolean
  /** The agents, where only the calls of one can be listed. */
  agents?: {
    page(cursor: string | null): ApiRequest
    /** @throws FieldFault as `read` */
    read(answer: unknown, cursor: string | null): { ids: string[]; next: string | null }
  }
  page(asked: AskedPage): ApiRequest
  /** @throws FieldFault naming what is not as described */
  read(answer: unknown, asked: AskedPage): HistoryPage
  /** A request for some calls of any time, where `page` needs a span. */
  sample?: ApiRequest
  /** How many calls there are, where the list says so. */
  totalIn?(answer: Fields): number | undefined
  idName: string
  /** The form of its ids, where events may come under others, so that an import would bring each call twice. */
  idForm?: RegExp
  startedAt(item: Fields): number | undefined
  /** Judged for an item of the list, and again with what was asked for beside it. @throws FieldFault */
  fateOf(item: Fields, more: Fields): CallFate
  /** What to ask for because the list lacks it. @param cursor null for its first page */
  more?(item: Fields, cursor: string | null): ApiRequest
  /** The list in such an answer, where it comes in pages, and the cursor of the next; null on the last. */
  morePages?: { list: string; nextIn(answer: unknown): string | null }
  /** The event of the platform that says the same. */
  eventOf(item: Record<string, unknown>, more: Record<string, unknown>): object
  /** When the recording will be gone, if the platform says so. */
  recordingGoneAt?(more: Fields): number | undefined
}

/** How a platform signs its events, and how they map to calls. */
export interface Platform {
  /** Whether the secret itself stands in the headers. */
  hasSecret?(headers: Headers, secret: string): boolean
  /** Whether the request is signed with the secret, and recently if the platform signs the time. */
  isSigned?(request: SignedRequest, secret: string): boolean
  /** Null for an event that is not about a call. @throws FieldFault */
  read(event: Fields, options: SourceOptions): SourceUpdate | null
  /** What the platform's user attached to the call, for sources that keep it; later objects win. */
  attached?(event: Fields): Record<string, unknown>[]
  /** What to answer an event that is a question; null for any other event. */
  answer?(event: Fields): object | null
  recording?: RecordingPlace
}
