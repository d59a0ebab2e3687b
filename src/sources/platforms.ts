import { bland } from './bland.ts'
import { cartesia } from './cartesia.ts'
import type { PlatformName } from './catalog.ts'
import { dograh } from './dograh.ts'
import { elevenlabs } from './elevenlabs.ts'
import type { Fault, Platform, SignedRequest, SourceOptions, SourceUpdate } from './event.ts'
import { FieldFault, Fields, type Reading } from './fields.ts'
import { retell } from './retell.ts'
import { synthflow } from './synthflow.ts'
import { telnyx } from './telnyx.ts'
import { ultravox } from './ultravox.ts'
import { vapi } from './vapi.ts'

/** Every platform whose webhooks are understood, by its name. */
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
} as const satisfies Record<PlatformName, Platform>

/** @param secrets the present one, and during a rotation the one before */
export function isGenuine(platform: Platform, request: SignedRequest, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== '' && platform.isGenuine(request, secret))
}

/** What an event says of a call: null when it is not about one, a fault when it cannot be understood. */
export function readEvent(
  platform: Platform,
  body: unknown,
  options: SourceOptions = {},
): SourceUpdate | Fault | null {
  try {
    return platform.read(Fields.of(body), options)
  } catch (error) {
    if (error instanceof FieldFault) return { field: error.field, message: error.message }
    throw error
  }
}

/** What to answer an event: most platforms want no more than that it was received. */
export function answerTo(platform: Platform, body: unknown): object {
  try {
    return platform.answer?.(Fields.of(body)) ?? {}
  } catch (error) {
    // An event of another form is no question.
    if (error instanceof FieldFault) return {}
    throw error
  }
}

/**
 * What is kept of an event that is a fault, so that it can be read again: the fields that its adapter reads. An object
 * or a list where something else was expected is kept without its members.
 * @returns the id of the call too, null when the event does not name it, and its numbers
 */
export function keptOf(
  platform: Platform,
  body: unknown,
  options: SourceOptions = {},
): { callId: string | null; numbers: string[]; event: Readonly<Record<string, unknown>> } {
  const reading: Reading = { kept: Object.create(null), fault: null }
  const update = platform.read(Fields.of(body, reading), options)
  const { callerNumber, calledNumber } = update?.change ?? {}
  const numbers = [callerNumber, calledNumber].filter((number) => number !== undefined)
  return { callId: update?.id || null, numbers, event: reading.kept }
}
