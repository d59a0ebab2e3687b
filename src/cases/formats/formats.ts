import { elevenlabs } from './elevenlabs.ts'
import type { CaseFormat } from './format.ts'
import { jsonl } from './jsonl.ts'
import { livekit } from './livekit.ts'
import { pipecat } from './pipecat.ts'
import { retell } from './retell.ts'
import { vapi } from './vapi.ts'

/** The formats that cases are exported in. */
export const formats = { jsonl, pipecat, livekit, vapi, retell, elevenlabs } satisfies Record<
  string,
  CaseFormat
>
export type FormatName = keyof typeof formats
// Object.keys returns the names that are written above.
export const formatNames = Object.keys(formats) as FormatName[]
