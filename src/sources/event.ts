import type { Fields } from './fields.ts'

/** What a platform says of a call: fields of `PUT /ingest/calls/:id`. What it does not know is left out, never null. */
export interface CallFacts {
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

/** What a platform says beside a call's thirteen fields. */
export interface SourceDetails {
  agent?: { id: string; name: string | null }
  direction?: 'inbound' | 'outbound' | 'web'
  recordingUrl?: string
  costUsd?: number
  latencyMs?: number
  timeline?: TimelineEntry[]
  metadata?: Record<string, unknown>
}

export interface TimelineEntry {
  atSeconds: number
  kind: 'turn' | 'tool_call' | 'tool_result' | 'transfer' | 'other'
  /** Index of the turn in the transcript. */
  turn: number | null
  name: string | null
  text: string | null
}

export interface SourceUpdate {
  /** The platform's own id for the call. */
  id: string
  change: CallFacts
  details: SourceDetails
}

/** An event that cannot be mapped, by the field that is not as expected. */
export interface Fault {
  field: string
  message: string
}

/** A request as it came, to be checked before its body is parsed. */
export interface SignedRequest {
  headers: Headers
  body: Uint8Array
  /** When it came, in milliseconds since 1970. */
  now: number
}

/** What the user says of a source because no event does, such as `direction`. */
export type SourceOptions = Readonly<Record<string, string>>

/** How a platform signs its events, and what they say. */
export interface Platform {
  /** Whether the request is signed with the secret, and recently where the platform signs the time. */
  isGenuine(request: SignedRequest, secret: string): boolean
  /** Null for an event that says nothing of a call. @throws FieldFault */
  read(event: Fields, options: SourceOptions): SourceUpdate | null
  /** What to answer an event that is a question; null for any other event. */
  answer?(event: Fields): object | null
}
