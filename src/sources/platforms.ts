import { bland } from './bland.ts'
import { cartesia } from './cartesia.ts'
import { dograh } from './dograh.ts'
import { elevenlabs } from './elevenlabs.ts'
import {
  type Fault,
  FieldFault,
  type Platform,
  type SignedRequest,
  type SourceOptions,
  type SourceUpdate,
} from './event.ts'
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
} as const satisfies Record<string, Platform>

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
    return platform.read(body, options)
  } catch (error) {
    if (error instanceof FieldFault) return { field: error.field, message: error.message }
    throw error
  }
}
