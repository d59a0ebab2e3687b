import { bland, blandHistory } from './bland.ts'
import { withoutUnknown } from './call-fields.ts'
import { cartesia, cartesiaHistory } from './cartesia.ts'
import type { WebhookPlatform } from './catalog.ts'
import { dograh, dograhHistory } from './dograh.ts'
import { elevenlabs, elevenlabsHistory } from './elevenlabs.ts'
import type {
  CallHistory,
  Fault,
  NamedRecording,
  Platform,
  SignedRequest,
  SourceOptions,
  SourceUpdate,
} from './event.ts'
import { FieldFault, Fields, type Reading } from './fields.ts'
import { retell, retellHistory } from './retell.ts'
import { synthflow, synthflowHistory } from './synthflow.ts'
import { telnyx } from './telnyx.ts'
import { ultravox, ultravoxHistory } from './ultravox.ts'
import { vapi, vapiHistory } from './vapi.ts'

/** The platforms with webhooks by name. */
export const platforms = {
  vapi,
  retell,
  elevenlabs,
  bland,
  telnyx,
  ultravox,
  synthflow,
  cartesia,
  dograh,
} as const satisfies Record<WebhookPlatform, Platform>

/** The platforms whose history can be imported. */
export const histories: Readonly<Partial<Record<WebhookPlatform, CallHistory>>> = {
  vapi: vapiHistory,
  retell: retellHistory,
  elevenlabs: elevenlabsHistory,
  ultravox: ultravoxHistory,
  bland: blandHistory,
  synthflow: synthflowHistory,
  cartesia: cartesiaHistory,
  dograh: dograhHistory,
}

/** @param secrets the current one and, during a rotation, the previous one */
export function hasSecret(platform: Platform, headers: Headers, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== '' && platform.hasSecret?.(headers, secret))
}

/** Hashes the body once for each secret and each way in which the platform signs. @param secrets as above */
export function isSigned(platform: Platform, request: SignedRequest, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== '' && platform.isSigned?.(request, secret))
}

/** What an event tells about a call; null if it is not about one, a fault if it cannot be read. */
export function readEvent(
  platform: Platform,
  body: unknown,
  options: SourceOptions = {},
): SourceUpdate | Fault | null {
  try {
    return readUpdate(platform, Fields.of(body), options)
  } catch (error) {
    if (error instanceof FieldFault) return { field: error.field, message: error.message }
    throw error
  }
}

/** The change of a call that an update makes, as its event and without its metadata. */
export function eventsOf({ change, details: { metadata, ...details } }: SourceUpdate) {
  // The timeline refers to turns, so a new transcript comes with its own timeline or with none.
  const bare = { ...change, details: { ...(change.transcript && { timeline: null }), ...details } }
  return { bare, whole: metadata ? { ...bare, details: { ...bare.details, metadata } } : bare }
}

/** @throws FieldFault */
function readUpdate(platform: Platform, event: Fields, options: SourceOptions): SourceUpdate | null {
  const update = platform.read(event, options)
  if (update === null || options.metadata !== 'keep') return update
  const sets = [...(platform.attached?.(event) ?? []), update.details.metadata ?? {}]
  const metadata = Object.fromEntries(sets.flatMap(Object.entries))
  return { ...update, details: withoutUnknown({ ...update.details, metadata }) }
}

/** The recording that an event names; null if it names none that can be read. */
export function recordingIn(
  platform: Platform,
  body: unknown,
  options: SourceOptions,
): NamedRecording | null {
  return unlessFault(() => platform.recording?.recordingIn(Fields.of(body), options)) ?? null
}

/** The address of a recording in an answer of its platform's API; null if there is none. */
export function recordingAddressIn(platform: Platform, answer: unknown): string | null {
  return unlessFault(() => platform.recording?.addressIn?.(Fields.of(answer))) ?? null
}

/** The body to answer an event with; `{}` unless the event is a question. */
export function answerTo(platform: Platform, body: unknown): object {
  // An event that cannot be read is not a question.
  return unlessFault(() => platform.answer?.(Fields.of(body))) ?? {}
}

/** Returns undefined for what cannot be read. */
function unlessFault<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof FieldFault) return undefined
    throw error
  }
}

/**
 * What to keep of an event that cannot be read, so that it can be read again later: the fields that its platform's
 * mapping reads. An object or a list in a wrong place is kept without its members.
 * @returns also the call's id, null if the event does not have it, and its phone numbers
 */
export function keptOf(
  platform: Platform,
  body: unknown,
  options: SourceOptions = {},
): { callId: string | null; numbers: string[]; event: Readonly<Record<string, unknown>> } {
  const reading: Reading = { copy: Object.create(null), fault: null }
  const update = readUpdate(platform, Fields.of(body, reading), options)
  const { callerNumber, calledNumber } = update?.change ?? {}
  const numbers = [callerNumber, calledNumber].filter((number) => number !== undefined)
  return { callId: update?.id || null, numbers, event: reading.copy }
}
