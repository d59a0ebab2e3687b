import { type SQL, sql } from 'drizzle-orm'
import { servedDocument } from './document.ts'
import { type CallDetails, type CallRecording, CallSound } from './schemas.ts'

/** The details in call_details, which has the metadata in a column of its own. */
export type StoredDetails = Omit<CallDetails, 'metadata'>

/** The fields of a recording that is not kept. */
const noRecording: CallRecording = {
  state: 'none',
  reason: null,
  contentType: null,
  bytes: null,
  durationSeconds: null,
  channels: null,
  keptAt: null,
  mutedSeconds: null,
  muted: null,
}

/** The sound of a call that is not measured. */
export function soundIn(state: CallSound['state'], reason: CallSound['reason'] = null): CallSound {
  const nulls = Object.fromEntries(Object.keys(CallSound.properties).map((name) => [name, null]))
  // Each member but these two may be null.
  return { ...nulls, state, reason } as CallSound
}

/** What a call has that was not analyzed. */
const noAnalysis: CallDetails['analysis'] = { state: 'none', version: null, criteria: {} }

export const emptyDetails: StoredDetails = {
  source: null,
  agent: null,
  direction: null,
  recordingUrl: null,
  costUsd: null,
  latencyMs: null,
  costParts: null,
  usage: null,
  costSource: null,
  recording: noRecording,
  sound: soundIn('none'),
  analysis: noAnalysis,
  timeline: [],
  review: null,
  redacted: null,
}
export const emptyDetailsText = JSON.stringify(emptyDetails)

/**
 * Details as text. Most calls have no sound, and nothing that was made silent: those have no members for it.
 * @returns null for details of nothing
 */
export function toStored(details: StoredDetails): string | null {
  const text = JSON.stringify(withoutSound(details))
  return text === emptyStoredText ? null : text
}
const emptyStoredText = JSON.stringify(withoutSound(emptyDetails))

function withoutSound(details: StoredDetails) {
  const { recording, sound } = details
  const isMuted = recording.muted !== null
  return {
    ...details,
    recording: isMuted ? recording : { ...recording, mutedSeconds: undefined, muted: undefined },
    sound: sound.state === 'none' ? undefined : sound,
  }
}

/** Reads what `toStored` returns. */
export function readStored(text: string | null): StoredDetails {
  const stored: Partial<StoredDetails> = text === null ? {} : JSON.parse(text)
  return { ...emptyDetails, ...stored, recording: { ...noRecording, ...stored.recording } }
}

/**
 * The details in a row of call_details. Those that version 1.0.0-rc.1 wrote have no version of the agent, and no costs
 * beside `costUsd`. Quotes inside a text are escaped, so these places are found exactly.
 */
export const storedDetails = sql<
  string | null
>`case when instr(details, ',"costParts":') > 0 then details else
  replace(substr(details, 1, instr(details, ',"recording":') - 1), '},"direction":', ',"version":null},"direction":')
  || ',"costParts":null,"usage":null,"costSource":null' || substr(details, instr(details, ',"recording":')) end`

const soundAt = sql`instr(details, ',"analysis":{')`

const notKept = ',"keptAt":null'

/** The same with the members that `toStored` leaves out, up to the last brace. */
const openDetails = sql<string | null>`(
  select replace(substr(details, 1, ${soundAt} - 1), ${sql.raw(`'${notKept}'`)},
      ${sql.raw(`'${notKept},"mutedSeconds":null,"muted":null'`)})
    || iif(instr(substr(details, 1, ${soundAt}), ',"sound":{') > 0, '', ${sql.raw(`',"sound":${JSON.stringify(emptyDetails.sound)}'`)})
    || substr(details, ${soundAt}, length(details) - ${soundAt})
  from (select ${storedDetails} as details))`

/** The details in a row of call_details, as the API returns them without their metadata. */
export const currentDetails = sql<string | null>`${openDetails} || '}'`

/** The details of a call from call_details, as the API returns them. */
export const servedDetails: SQL = sql`
  coalesce(${openDetails}, ${sql.raw(`'${emptyDetailsText.slice(0, -1)}'`)})
  || ',"metadata":' || coalesce(metadata, 'null') || '}'`

/** The same beside call_documents. */
export const detailsBeside: SQL<string> = sql`(
  select ${servedDetails} from (select 1) left join call_details on call_details.seq = call_documents.seq)`

/** A document from call_documents; if the parameter `isDetailed` is 1, with its details as its last member. */
export const documentInForm: SQL<string> = sql`case when ${sql.placeholder('isDetailed')}
  then rtrim(${servedDocument}, '}') || ',"details":' || ${detailsBeside} || '}' else ${servedDocument} end`

/** Details as JSON without timeline and metadata. Quotes inside a text are escaped, so these places are found exactly. */
export const briefDetails: SQL<string | null> = sql`substr(details, 1, instr(details, ',"timeline":[') - 1)
  || substr(details, instr(details, '],"review":') + 1)`

/** Bytes of the details in a row of `calls`, without metadata. */
export const storedDetailsBytes: SQL<number> = sql`
  coalesce((select octet_length(details) from call_details where call_details.seq = calls.seq), 0)`

/** The approximate size of the details. SQLite knows the size of a stored text without reading it. */
export const detailsBytes: SQL<number> = sql`coalesce(octet_length(details), 0) + coalesce(octet_length(metadata), 0)`
