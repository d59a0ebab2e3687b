import { type SQL, sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'

// Times are integers: milliseconds since 1970, UTC. `project_id` is projects.id, never the public id.
// Beside these tables there are FTS5 tables, made when they are needed: see word-segments.ts.

const projectId = () =>
  integer('project_id')
    .notNull()
    .references(() => projects.id, { onDelete: 'cascade' })
const personId = (name: string) =>
  text(name)
    .notNull()
    .references(() => people.id, { onDelete: 'cascade' })
const callSeq = () =>
  integer()
    .primaryKey()
    .references(() => calls.seq, { onDelete: 'cascade' })
const webhookId = () =>
  text('webhook_id')
    .notNull()
    .references(() => webhooks.id, { onDelete: 'cascade' })
const instant = (name: string) => integer(name, { mode: 'timestamp_ms' })
const timestamps = () => ({
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

export const projects = sqliteTable(
  'projects',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    /** `prj_…`: what people and commands see. */
    publicId: text('public_id').notNull().unique(),
    /** Different projects may have the same one. */
    name: text().notNull(),
    /**
     * Counts every change of the project's calls and knowledge, in the transaction that makes it. Each changed record
     * takes a number of its own, and numbers are committed in their order.
     */
    changeSeq: integer('change_seq').notNull().default(0),
    /** How many calls it has. Triggers keep it. */
    calls: integer().notNull().default(0),
    /** Counts every change of the project's set of vectors: an index file of another version is behind. */
    knowledgeVersion: integer('knowledge_version').notNull().default(0),
    /** The `change_seq` of the last replacement of an item's chunks: see src/knowledge/search/search.ts. */
    replacedSeq: integer('replaced_seq').notNull().default(0),
    createdAt: integer('created_at').notNull(),
    /** When its deletion began. It is unreachable, and its rows are being deleted. */
    deletedAt: integer('deleted_at'),
    /** Calls that were completed more days ago are deleted; null keeps them. */
    retainDays: integer('retain_days'),
    /** What is redacted before anything of a call is written. */
    redact: text({ mode: 'json' })
      .$type<('phone' | 'email' | 'card' | 'iban' | 'ssn')[]>()
      .notNull()
      .default([]),
    /** ISO 3166-1 alpha-2: how numbers without a country code are read. */
    country: text(),
    /** How much of `callerNumber` and `calledNumber` is stored. */
    keepNumbers: text('keep_numbers', { enum: ['all', 'last4', 'none'] })
      .notNull()
      .default('all'),
    /** For how many days the questions of searches are kept; null keeps none. */
    keepQuestionsDays: integer('keep_questions_days').$type<7 | 30>(),
    /** A question whose answer covers less of it is a gap in the knowledge, 0 to 1. */
    gapCoverage: real('gap_coverage').notNull().default(0.5),
    /** Whether the audit trail says who opened a call or exported calls. */
    notesReading: integer('notes_reading', { mode: 'boolean' }).notNull().default(false),
    /** Whether members may delete calls and knowledge in the console; owners always may. */
    membersMayDelete: integer('members_may_delete', { mode: 'boolean' }).notNull().default(true),
    /** The time zone of days and times in the console, such as `Europe/Berlin`; null for each reader's own. */
    timeZone: text('time_zone'),
    /** How long nothing may be heard of a live call before it is completed, such as `24h`; null waits for ever. */
    endSilentAfter: text('end_silent_after').default('24h'),
    /** Whether recordings are fetched from where platforms keep them. One that is sent here is kept either way. */
    recordings: text({ enum: ['off', 'keep', 'mute'] })
      .notNull()
      .default('off'),
    /** Recordings of calls that were completed more days ago are deleted, and the calls stay; null keeps them. */
    recordingRetainDays: integer('recording_retain_days'),
    /** Which channel of a recording is the caller's, where no source says it; null where what is said must tell. */
    callerChannel: integer('caller_channel').$type<0 | 1>(),
    /** What its models cost, in place of the service's own list. */
    prices: text({ mode: 'json' }).$type<Price[]>(),
  },
  (table) => [index('projects_by_name').on(table.name)],
)

export const keys = sqliteTable(
  'keys',
  {
    id: text().primaryKey(),
    projectId: projectId(),
    kind: text({ enum: ['live', 'ingest'] }).notNull(),
    /** Null for an ingest key. */
    scope: text({ enum: ['full', 'read', 'search', 'knowledge', 'manage'] }),
    name: text().notNull(),
    /** SHA-256 of the whole key, lowercase hex. The key itself is stored nowhere. */
    hash: text().notNull().unique(),
    /** The key's last four characters, to tell keys apart in a list. */
    hint: text().notNull(),
    /** JSON array of addresses, CIDR ranges and `*`; `[]` is `*`. */
    allowedIps: text('allowed_ips', { mode: 'json' }).$type<string[]>().notNull(),
    /** JSON array of origins such as `https://app.example.com`, whose pages may use the key in a browser. */
    allowedOrigins: text('allowed_origins', { mode: 'json' }).$type<string[]>().notNull(),
    /** JSON: it searches only items with one of these tags; `[]` for all items. */
    tags: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    expiresAt: integer('expires_at'),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
    lastUsedAt: integer('last_used_at'),
    lastUsedIp: text('last_used_ip'),
    revokedAt: integer('revoked_at'),
    /** The id of the key whose place it takes, when it was made by a rotation. */
    replaces: text(),
  },
  (table) => [index('keys_by_project').on(table.projectId, table.createdAt)],
)

/** What the head of a call keeps of a person's review, for lists. */
export interface ReviewMarks {
  evaluation: string | null
  labels: string[]
  reviewed: boolean
  /** A person's verdicts, by criterion. */
  criteria: Record<string, 'pass' | 'fail'>
  /** Whether there is a note. */
  noted: boolean
  /** Whether a turn is flagged. */
  flagged: boolean
  assignee: string | null
  by: string | null
  /** ISO 8601. */
  at: string
}

/** The figures of sound that calls are found, sorted and counted by. */
export const soundFigures = [
  'responseMs',
  'responseP95Ms',
  'responseMaxMs',
  'deadAirSeconds',
  'talkOverSeconds',
  'agentShare',
  'interruptions',
] as const

/** What the head of a call keeps of its sound: figures only if it is measured. */
export interface SoundMarks extends Partial<Record<(typeof soundFigures)[number], number | null>> {
  state: 'none' | 'waiting' | 'measured' | 'unmeasured'
  /** Why it is unmeasured. */
  reason: string | null
}

/** What `calls.is_engaged` has of a call of which that is unknown. */
export const unknownEngagement = 2

/** The narrow head of a call: what is filtered and sorted by. What is served is in call_documents. */
export const calls = sqliteTable(
  'calls',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    projectId: projectId(),
    id: text().notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** Newest event merged so far; null when no request has named one. */
    occurredAt: integer('occurred_at'),
    /** Whether `createdAt` is when the first request arrived, because no request has set it. */
    createdOnArrival: integer('created_on_arrival', { mode: 'boolean' }).notNull().default(false),
    /** Whether a request has set `isEngaged`. */
    engagementStated: integer('engagement_stated', { mode: 'boolean' }).notNull().default(false),
    /** Bits that tell what was derived: see src/calls/writing/derive.ts. */
    derived: integer().notNull().default(0),
    status: text({ enum: ['live', 'completed'] }).notNull(),
    /** When it became completed, and never before `createdAt`: see src/calls/keeping/retention.ts. Null for a live call. */
    completedAt: integer('completed_at'),
    /**
     * When anything last arrived of a live call, by our clock. A call that was completed because of silence keeps it
     * until its platform says why the call ended. Null for all others.
     */
    heardAt: integer('heard_at'),
    /** A person's evaluation, or else the platform's. The document has only the platform's. */
    evaluation: text(),
    /** Neither 0 nor 1 but `unknownEngagement` while nobody has said it and nothing was derived; then it reads as false. */
    isEngaged: integer('is_engaged', { mode: 'boolean' }).notNull(),
    duration: real().notNull(),
    callerNumber: text('caller_number'),
    calledNumber: text('called_number'),
    endedReason: text('ended_reason'),
    /** The platform that the call came from. */
    source: text(),
    /** The call's own agent, or else the first one of its timeline. valueList has the others. */
    agentId: text('agent_id'),
    /** What lists show of the call's review; null when it has none. valueList finds calls by it. */
    review: text({ mode: 'json' }).$type<ReviewMarks>(),
    /** The state of its recording; null for none. valueList finds calls by it. */
    recording: text({ enum: ['waiting', 'kept', 'failed', 'expired'] }),
    /** As in its details, for figures. */
    costUsd: real('cost_usd'),
    latencyMs: real('latency_ms'),
    /** Characters of the stored document, so that the size of a page is known before it is read. */
    documentChars: integer('document_chars').notNull(),
    changeSeq: integer('change_seq').notNull(),
    callerDigits: text('caller_digits').generatedAlwaysAs(withoutPunctuation('caller_number')),
    calledDigits: text('called_digits').generatedAlwaysAs(withoutPunctuation('called_number')),
    /** What the call is found by beside its columns, as a JSON array: see src/calls/finding/call-values.ts; null for nothing. */
    valueList: text('value_list'),
    /** What its recording sounds like; null without one. valueList finds calls by its state. */
    sound: text({ mode: 'json' }).$type<SoundMarks>(),
    responseMs: soundFigure('response_ms', 'responseMs'),
    responseP95Ms: soundFigure('response_p95_ms', 'responseP95Ms'),
    responseMaxMs: soundFigure('response_max_ms', 'responseMaxMs'),
    deadAirSeconds: soundFigure('dead_air_seconds', 'deadAirSeconds'),
    talkOverSeconds: soundFigure('talk_over_seconds', 'talkOverSeconds'),
    agentShare: soundFigure('agent_share', 'agentShare'),
    interruptions: soundFigure('interruptions', 'interruptions'),
  },
  (table) => [
    uniqueIndex('calls_by_id').on(table.projectId, table.id),
    // Every column that lists filter by and figures are made of, so that a scan of a million calls reads no rows.
    index('calls_by_created_at').on(
      table.projectId,
      table.createdAt,
      table.id,
      table.documentChars,
      table.status,
      table.evaluation,
      table.isEngaged,
      table.duration,
      table.endedReason,
      table.source,
      table.agentId,
      table.costUsd,
      table.latencyMs,
      table.updatedAt,
    ),
    // As narrow as can be, since each call that is completed pays for it.
    index('calls_by_completed_at')
      .on(table.projectId, table.completedAt)
      .where(sql`completed_at is not null`),
    index('calls_by_change').on(table.projectId, table.changeSeq),
    // Of live calls alone, to find the silent ones: see src/calls/keeping/silence.ts.
    index('calls_by_heard_at')
      .on(table.projectId, table.heardAt, table.id, table.documentChars)
      .where(sql`status = 'live'`),
  ],
)

/** Calls whose words are not in their segment yet, or not as they are now: see src/calls/finding/word-backlog.ts. */
export const callsWithoutWords = sqliteTable('calls_without_words', {
  seq: callSeq(),
  projectId: integer('project_id').notNull(),
  /** When to index them. */
  dueAt: integer('due_at').notNull().default(0),
  /** All words of the call, as in call_parts; null if they have yet to be cut from the document. */
  words: text(),
})

/**
 * Which segments hold words of a project's calls: see word-segments.ts. A row outlasts its project until the segment is
 * rewritten. WITHOUT ROWID.
 */
export const callSegments = sqliteTable(
  'call_segments',
  { projectId: integer('project_id').notNull(), segment: integer().notNull() },
  (table) => [primaryKey({ columns: [table.projectId, table.segment] })],
)

/** Deleted records whose words are still in their segment, written by triggers. WITHOUT ROWID. */
export const wordRemovals = sqliteTable(
  'word_removals',
  {
    kind: text({ enum: ['call', 'chunk'] }).notNull(),
    segment: integer().notNull(),
    /** The row number of the deleted record. */
    record: integer().notNull(),
    /** Refers to nothing, since the project may be deleted, too. */
    projectId: integer('project_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.segment, table.record] })],
)

/** A call exactly as the API returns it: its thirteen fields as one JSON text, written at ingest. */
export const callDocuments = sqliteTable('call_documents', {
  seq: callSeq(),
  /** The call's `change_seq` when the document was written, so that reading the document need not read the call. */
  callChangeSeq: integer('call_change_seq').notNull(),
  /** Whether turns in call_parts follow. The column is before `document`, so that SQLite need not read through that. */
  hasParts: integer('has_parts', { mode: 'boolean' }).notNull().default(false),
  document: text().notNull(),
})

/**
 * Turns appended to a live call since its document was written: see src/calls/writing/turn-appender.ts. WITHOUT ROWID,
 * so that those of one call lie together.
 */
export const callParts = sqliteTable(
  'call_parts',
  {
    seq: integer()
      .notNull()
      .references(() => calls.seq, { onDelete: 'cascade' }),
    /** Turns of the call up to the end of this part. */
    turnCount: integer('turn_count').notNull(),
    /** JSON, with a comma before each turn. */
    turns: text().notNull(),
    /** What the turns are found by, with a space before and after each word: see src/calls/finding/call-words.ts. */
    words: text().notNull(),
    /** `updatedAt` as the API returns it. */
    updatedAt: text('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.seq, table.turnCount] })],
)

/** What is known about a call beyond its document, if there is anything: see src/calls/details.ts. */
export const callDetails = sqliteTable('call_details', {
  seq: callSeq(),
  /** The details as the API returns them, without their metadata. */
  details: text(),
  metadata: text(),
  /** How much was redacted in each part of the call, as JSON: see src/calls/writing/redaction.ts. */
  redactions: text(),
  /** What our own analysis found out, as JSON: see src/calls/writing/fills.ts. */
  analysis: text(),
})

/** What is to be done about the sound of a recording, the most urgent first. */
export const soundDue = {
  /** Figures alone: its call was completed, or has changed since. */
  figures: 1,
  /** Everything: it has just arrived. */
  arrived: 2,
  /** Everything: it was kept by an earlier version, or is to be measured again. */
  again: 3,
  /** Figures alone: it was decoded, and is served as it was sent. Its call has not changed. */
  decoded: 4,
} as const

/**
 * The recordings of calls: see src/recordings. Its key is all that makes a file readable. Triggers note the files of rows
 * that are deleted or replaced.
 */
export const recordings = sqliteTable(
  'recordings',
  {
    seq: callSeq(),
    projectId: projectId(),
    /** Its random name in the folder or bucket. */
    file: text().notNull().unique(),
    /** AES-256, of this file alone. */
    key: blob({ mode: 'buffer' }).notNull(),
    contentType: text('content_type').notNull(),
    /** The length of the recording as it was sent. */
    bytes: integer().notNull(),
    sha256: text().notNull(),
    durationSeconds: real('duration_seconds'),
    channels: integer(),
    keptAt: integer('kept_at').notNull(),
    /** What a player draws: see src/recordings/audio/peaks.ts. Null until they are computed, empty if they cannot be. */
    peaks: blob({ mode: 'buffer' }),
    /** Who speaks when: see src/recordings/audio/speech-bytes.ts. Null until it is known. */
    speech: blob({ mode: 'buffer' }),
    /** What of `soundDue` is to be done about its sound; null for nothing. */
    soundDue: integer('sound_due').default(soundDue.again),
    /** Since when it waits until what was redacted is silent, and nobody may hear it; null for one that is served. */
    waitingSince: integer('waiting_since'),
    /** What is silent in it; null for one that is served as it was sent. */
    muting: text({ mode: 'json' }).$type<Muting>(),
  },
  (table) => [
    index('recordings_by_project').on(table.projectId, table.bytes),
    index('recordings_by_sound_due')
      .on(table.soundDue, table.projectId, table.seq)
      .where(sql`sound_due is not null`),
    index('recordings_waiting').on(table.waitingSince).where(sql`waiting_since is not null`),
  ],
)

/** What is silent in a recording. */
export interface Muting {
  /** In seconds, ascending, without overlaps. */
  spans: [from: number, to: number][]
  /** When the turns begin that are silent, by the call's timeline. */
  turns: number[]
  /** How the call's turns lie in it: see src/calls/sound/alignment.ts. Null where nothing was to be muted. */
  alignment: { isSwapped: boolean; offset: number } | null
}

/** Files of recordings that no row has any more, to be deleted. */
export const recordingRemovals = sqliteTable('recording_removals', { file: text().primaryKey() })

/** Recordings to fetch from where their platform keeps them: see src/recordings/fetching. */
export const recordingFetches = sqliteTable(
  'recording_fetches',
  {
    seq: callSeq(),
    projectId: projectId(),
    /** The source whose event named it; null for one that a request named. */
    sourceId: text('source_id'),
    /** The address in the event, encrypted; null without one, once it has expired, and after the last attempt. */
    url: blob({ mode: 'buffer' }),
    /** When the address expires, if the event says so. */
    urlExpiresAt: integer('url_expires_at'),
    /** What the platform's API calls it, if that is not the call's id. */
    reference: text(),
    /** When it was first asked for. */
    since: integer().notNull(),
    attempts: integer().notNull().default(0),
    /** Null after the last attempt. */
    dueAt: integer('due_at'),
    /** Its place among recordings of the past; null for one that is new, which goes before all of those. */
    pastRank: integer('past_rank'),
  },
  (table) => [
    index('recording_fetches_due').on(table.dueAt).where(sql`due_at is not null`),
    index('recording_fetches_turn')
      .on(table.pastRank, table.dueAt, table.projectId)
      .where(sql`due_at is not null`),
    index('recording_fetches_by_project').on(table.projectId),
  ],
)

/** The versions of each project's rubric; the highest one is in force. They never change. */
export const rubrics = sqliteTable(
  'rubrics',
  {
    projectId: projectId(),
    version: integer().notNull(),
    /** JSON: see src/analysis/schemas.ts. */
    content: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.version] })],
)

/** Calls to analyze: see src/analysis/analysis-queue.ts. WITHOUT ROWID. */
export const analysisQueue = sqliteTable(
  'analysis_queue',
  {
    seq: integer()
      .notNull()
      .references(() => calls.seq, { onDelete: 'cascade' }),
    /** The run over the past that asks for it, or nothing for a call that was completed. */
    runId: text('run_id').notNull().default(''),
    projectId: projectId(),
    dueAt: integer('due_at').notNull(),
    /** The place of the call in a run: the newest comes first. */
    position: integer().notNull().default(0),
    /** The call's `change_seq` when it was completed, or its transcript changed. */
    changeSeq: integer('change_seq').notNull().default(0),
    /** Failed attempts that may be the call's fault. */
    attempts: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.seq, table.runId] }),
    index('analysis_queue_due').on(table.projectId, table.dueAt, table.position),
    index('analysis_queue_by_run').on(table.runId).where(sql`run_id <> ''`),
  ],
)

/** Runs over the past: see src/analysis/analysis-runs.ts. */
export const analysisRuns = sqliteTable(
  'analysis_runs',
  {
    /** `ana_…`. */
    id: text().primaryKey(),
    projectId: projectId(),
    version: integer().notNull(),
    /** Whether calls that this version has analyzed are analyzed again. */
    isAgain: integer('is_again', { mode: 'boolean' }).notNull(),
    calls: integer().notNull(),
    done: integer().notNull().default(0),
    skipped: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
    stoppedAt: integer('stopped_at'),
  },
  (table) => [index('analysis_runs_by_project').on(table.projectId, table.createdAt)],
)

/** The calls of a run that are not in the queue yet. A slice is deleted when they are. */
export const analysisSlices = sqliteTable(
  'analysis_slices',
  {
    runId: text('run_id')
      .notNull()
      .references(() => analysisRuns.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    /** JSON array of row numbers, which reveal nothing. */
    seqs: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.runId, table.number] })],
)

/** Projects whose analysis is paused, and why. */
export const analysisPauses = sqliteTable('analysis_pauses', {
  projectId: integer('project_id')
    .primaryKey()
    .references(() => projects.id, { onDelete: 'cascade' }),
  reason: text({ enum: ['credentials', 'model', 'unreachable', 'budget'] }).notNull(),
  /** A sentence that a person can act on. */
  detail: text().notNull(),
  since: integer().notNull(),
  /** When it is tried again. */
  until: integer().notNull(),
  /** How often it was tried in vain. */
  attempts: integer().notNull(),
})

/** The tokens that a project has used in a month. */
export const analysisUsage = sqliteTable(
  'analysis_usage',
  {
    projectId: projectId(),
    /** A month of UTC, such as `2026-01`. */
    month: text().notNull(),
    prompt: integer().notNull(),
    completion: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.month] })],
)

/** The spans of a voice session so far: see src/sources/otel/sessions.ts. */
export const callSessions = sqliteTable(
  'call_sessions',
  {
    projectId: projectId(),
    traceId: text('trace_id').notNull(),
    framework: text().notNull(),
    /** A trigger deletes the session with this call. Null until the session names it. */
    callId: text('call_id'),
    /** JSON: what is kept of each span, by its id. */
    spans: text().notNull(),
    /** When to complete the call unless more spans come; null when it is completed. */
    dueAt: integer('due_at'),
  },
  (table) => [
    uniqueIndex('call_sessions_by_trace').on(table.projectId, table.traceId),
    index('call_sessions_by_call').on(table.projectId, table.callId),
    index('call_sessions_due').on(table.dueAt).where(sql`due_at is not null`),
  ],
)

export const knowledgeItems = sqliteTable(
  'knowledge_items',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    projectId: projectId(),
    id: text().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    text: text().notNull(),
    textHash: text('text_hash').notNull(),
    /** JSON: sorted, each once. */
    tags: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** When it was created, or what it says was last changed: tags do not count. */
    updatedAt: integer('updated_at').notNull(),
    /** The id of the person or key that wrote it last; null for the command line. */
    updatedBy: text('updated_by'),
    changeSeq: integer('change_seq').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('knowledge_items_by_id').on(table.projectId, table.id),
    index('knowledge_items_by_time').on(table.projectId, table.createdAt, table.seq),
    index('knowledge_items_by_change').on(table.projectId, table.changeSeq),
    index('knowledge_items_by_text').on(table.projectId, table.textHash),
  ],
)

/** The tags of items, kept by triggers, so that the items of a tag are found. WITHOUT ROWID. */
export const itemTags = sqliteTable(
  'item_tags',
  {
    projectId: integer('project_id').notNull(),
    tag: text().notNull(),
    itemSeq: integer('item_seq').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.tag, table.itemSeq] })],
)

/** A passage of an item. Its label is its name in the vector index: below 2^32 and never used twice. */
export const chunks = sqliteTable(
  'chunks',
  {
    label: integer().primaryKey({ autoIncrement: true }),
    projectId: projectId(),
    itemSeq: integer('item_seq')
      .notNull()
      .references(() => knowledgeItems.seq, { onDelete: 'cascade' }),
    /** 0 for the item's first chunk. */
    position: integer().notNull(),
    /** Heading path, ` › ` between levels; null before the first heading. */
    heading: text(),
    text: text().notNull(),
    /** How many characters at the start of `text` repeat the end of the chunk before. */
    overlapChars: integer('overlap_chars').notNull(),
    textHash: text('text_hash').notNull(),
    /** Where its words are: see word-segments.ts. */
    segment: integer().notNull(),
    /** How many words it is found by, those of the item's name and the headings included. */
    wordCount: integer('word_count').notNull(),
    /** Float32 values, little-endian, unit length; null while pending. */
    embedding: blob({ mode: 'buffer' }),
    /** The embedder's space the vector belongs to; null while pending. */
    embeddingSpace: text('embedding_space'),
    /** How often embedding it has failed, for any reason. */
    attempts: integer().notNull().default(0),
    nextAttemptAt: integer('next_attempt_at'),
    lastError: text('last_error'),
    leasedUntil: integer('leased_until'),
    /** How many of `attempts` may have failed because of a text in the batch. */
    refusals: integer().notNull().default(0),
  },
  (table) => [
    index('chunks_by_item').on(table.itemSeq, table.position),
    index('chunks_by_space').on(table.projectId, table.embeddingSpace),
    index('chunks_pending').on(table.projectId, table.nextAttemptAt).where(sql`embedding_space is null`),
  ],
)

/**
 * What each segment holds of a project's chunks, kept by triggers. The rows are different after each change of the
 * chunks, since labels ascend. WITHOUT ROWID.
 */
export const chunkSegments = sqliteTable(
  'chunk_segments',
  {
    projectId: integer('project_id').notNull(),
    segment: integer().notNull(),
    chunks: integer().notNull(),
    /** The words of all of them. */
    words: integer().notNull(),
    firstLabel: integer('first_label').notNull(),
    lastLabel: integer('last_label').notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.segment] })],
)

/**
 * One row per deletion: the ledger of what is still to be erased, the tombstone of the id, the erasure receipt, and the
 * deletion as readers of changes see it. It is kept as long as the project, or until its id is used again.
 */
export const erasures = sqliteTable(
  'erasures',
  {
    projectId: projectId(),
    /**
     * `text` is an item's text before a change, `source` the secrets and failures of a source, `webhook` the secrets of
     * a webhook, `recording` that of a call which stays, `questions` what agents asked, `cases` tests that were made of calls, `hold` the number and the reason of a hold, `calls` an erasure request.
     * Readers of changes see none of these.
     */
    kind: text({
      enum: [
        'call',
        'item',
        'text',
        'recording',
        'source',
        'webhook',
        'questions',
        'cases',
        'sessions',
        'hold',
        'calls',
      ],
    }).notNull(),
    /**
     * HMAC-SHA-256 of the record's id under a key of this database; nothing else of the record is kept. For a hold and
     * an erasure request, its id.
     */
    idHash: text('id_hash').notNull(),
    /** The row number of the deleted record, which reveals nothing. Rows of webhook_queue find their record by it. */
    record: integer(),
    changeSeq: integer('change_seq').notNull(),
    requestedAt: integer('requested_at').notNull(),
    doneAt: integer('done_at'),
    /**
     * The erasure request that deleted the call. Its own row tells when the bytes were erased; this row's `done_at`
     * does not.
     */
    requestId: text('request_id'),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.kind, table.idHash] }),
    index('erasures_open').on(table.requestedAt).where(sql`done_at is null`),
    index('erasures_by_change').on(table.projectId, table.changeSeq),
  ],
)

/** Requests to erase many calls: see src/privacy/erasure-requests.ts. Their times are in `erasures`. */
export const erasureRequests = sqliteTable(
  'erasure_requests',
  {
    /** `era_…`. */
    id: text().primaryKey(),
    projectId: projectId(),
    /** How many calls there were to delete when it was accepted. */
    calls: integer().notNull(),
    deleted: integer().notNull().default(0),
    /** How many were kept because they were on hold. */
    onHold: integer('on_hold').notNull().default(0),
    /** Whether all is erased, and `erasure.done` was queued. */
    isDone: integer('is_done', { mode: 'boolean' }).notNull().default(false),
  },
  (table) => [index('erasure_requests_open').on(table.projectId).where(sql`not is_done`)],
)

/** The calls that an erasure request has yet to delete. A slice is deleted with its calls. */
export const erasureSlices = sqliteTable(
  'erasure_slices',
  {
    requestId: text('request_id')
      .notNull()
      .references(() => erasureRequests.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    /** JSON array of row numbers, which reveal nothing. */
    seqs: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.requestId, table.number] })],
)

/** Calls, and numbers with all their calls, that must not be deleted: see src/calls/keeping/holds.ts. */
export const holds = sqliteTable(
  'holds',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    /** `hold_…`. */
    id: text().notNull().unique(),
    projectId: projectId(),
    /** Set unless `number` is. */
    callId: text('call_id'),
    /** The number as somebody wrote it. */
    number: text(),
    reason: text().notNull(),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
  },
  (table) => [index('holds_by_project').on(table.projectId, table.seq)],
)

/**
 * Items created with an `Idempotency-Key`, so that a repeated request finds the item instead of creating another. Key
 * and body are stored only as keyed hashes.
 */
export const idempotentCreates = sqliteTable(
  'idempotent_creates',
  {
    projectId: projectId(),
    keyHash: text('key_hash').notNull(),
    bodyHash: text('body_hash').notNull(),
    /** Null once the item is deleted: nothing of a deleted item is kept. */
    itemId: text('item_id'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.keyHash] }),
    index('idempotent_creates_by_item').on(table.projectId, table.itemId),
    index('idempotent_creates_by_time').on(table.createdAt),
  ],
)

/** Rules that tell somebody when a figure of recent calls crosses a limit: see src/alerts/alert-watch.ts. */
export const alerts = sqliteTable(
  'alerts',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    /** `alr_…`. */
    id: text().notNull().unique(),
    projectId: projectId(),
    /** JSON: see src/alerts/schemas.ts. Without its destinations. */
    rule: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** JSON array of ids of webhooks, of which some may be deleted by now. */
    destinations: text({ mode: 'json' }).$type<string[]>().notNull(),
    /** Counts the changes of the rule. */
    version: integer().notNull().default(1),
    isPaused: integer('is_paused', { mode: 'boolean' }).notNull().default(false),
    state: text({ enum: ['ok', 'warning', 'alert', 'no_data'] })
      .notNull()
      .default('no_data'),
    /** When the state began. */
    since: integer().notNull(),
    value: real(),
    calls: integer().notNull().default(0),
    /** When the last message was queued. */
    sentAt: integer('sent_at'),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [index('alerts_by_project').on(table.projectId, table.seq)],
)

/** Each change of an alert's state, for 90 days. */
export const alertChanges = sqliteTable(
  'alert_changes',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    alertSeq: integer('alert_seq')
      .notNull()
      .references(() => alerts.seq, { onDelete: 'cascade' }),
    at: integer().notNull(),
    /** JSON: what was sent. */
    message: text().notNull(),
  },
  (table) => [
    index('alert_changes_by_alert').on(table.alertSeq, table.seq),
    index('alert_changes_by_time').on(table.at),
  ],
)

/** Endpoints that a project's events are sent to, and other destinations of alerts, which get nothing else. */
export const webhooks = sqliteTable(
  'webhooks',
  {
    id: text().primaryKey(),
    projectId: projectId(),
    kind: text({ enum: ['webhook', 'slack', 'pagerDuty'] })
      .notNull()
      .default('webhook'),
    url: text().notNull(),
    /** JSON array of the events that the endpoint takes. */
    events: text({ mode: 'json' }).$type<string[]>().notNull(),
    /** Whether calls are sent with their details. */
    isDetailed: integer('is_detailed', { mode: 'boolean' }).notNull().default(false),
    /** `whsec_…`, unhashed, because it has to sign; the routing key of PagerDuty, and nothing of Slack. */
    secret: text().notNull(),
    /** Until when the previous secret also signs. */
    previousSecret: text('previous_secret'),
    previousSecretUntil: integer('previous_secret_until'),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
    /** Failed attempts since the last success. */
    failures: integer().notNull().default(0),
    /** The first of them. */
    failingSince: integer('failing_since'),
    lastSuccessAt: integer('last_success_at'),
    /** When it was switched off; null while events are sent to it. */
    disabledAt: integer('disabled_at'),
    disabledReason: text('disabled_reason'),
    /** Changes with higher numbers were not sent to it, because it is switched off. */
    missedAfter: integer('missed_after'),
  },
  (table) => [index('webhooks_by_project').on(table.projectId, table.disabledAt)],
)

/** Events to send, written by triggers: see src/webhooks/queue.ts. Has no contents of records. */
export const webhookQueue = sqliteTable(
  'webhook_queue',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    webhookId: webhookId(),
    kind: text({ enum: ['call', 'item', 'erasure', 'alert'] }).notNull(),
    /** The row number of the call, item or alert. */
    record: integer(),
    /** How many calls an erasure request erased. */
    erasedCalls: integer('erased_calls'),
    /** JSON: the state and the numbers of an alert. */
    alert: text(),
    /** The keyed hash of a record that is deleted, or the id of an erasure or an alert. */
    ref: text(),
    event: text().notNull(),
    seq: integer().notNull(),
    at: integer().notNull().default(sql`(CAST(unixepoch('subsec') * 1000 AS INTEGER))`),
    /** Failed attempts. */
    attempts: integer().notNull().default(0),
    /** 0 for at once; null while an earlier event of the same record waits. */
    dueAt: integer('due_at').default(0),
    /** Whether it was sent. It is kept until `due_at`, to delay the next change of its live call. */
    isSent: integer('is_sent', { mode: 'boolean' }).notNull().default(false),
  },
  (table) => [
    index('webhook_queue_due').on(table.webhookId, table.dueAt, table.isSent),
    index('webhook_queue_by_record').on(table.record, table.kind, table.webhookId),
    index('webhook_queue_by_ref').on(table.ref, table.webhookId).where(sql`ref is not null`),
  ],
)

/** Each attempt to send an event, for 30 days. Triggers forget answers about a record that changes or is deleted. */
export const webhookAttempts = sqliteTable(
  'webhook_attempts',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    webhookId: webhookId(),
    /** The `webhook-id` that was sent. */
    messageId: text('message_id').notNull(),
    kind: text({ enum: ['call', 'item', 'erasure', 'alert', 'test'] }).notNull(),
    /** The row number of the call, item or alert, which reveals nothing. */
    record: integer(),
    /** The id of an erasure. */
    ref: text(),
    event: text().notNull(),
    seq: integer().notNull(),
    /** 1 for the first attempt. */
    attempt: integer().notNull(),
    at: integer().notNull(),
    /** Null when there was no answer; then `error` says why. */
    status: integer(),
    error: text(),
    durationMs: integer('duration_ms').notNull(),
    /** The size of the sent body. */
    bytes: integer().notNull(),
    /** How the answer to a failed attempt begins: see src/webhooks/answers.ts. It may hold words of the record. */
    answer: text(),
  },
  (table) => [
    index('webhook_attempts_by_webhook').on(table.webhookId, table.id),
    index('webhook_attempts_by_message').on(table.webhookId, table.messageId),
    index('webhook_attempts_failed')
      .on(table.webhookId, table.id)
      .where(sql`coalesce(status, 0) not between 200 and 299`),
    index('webhook_answers_by_record').on(table.record, table.kind).where(sql`answer is not null`),
    index('webhook_attempts_by_time').on(table.at),
  ],
)

/** Platforms whose webhooks bring in calls, each at its own URL. */
export const sources = sqliteTable(
  'sources',
  {
    /** `src_…`, a part of the URL. */
    id: text().primaryKey(),
    projectId: projectId(),
    platform: text().notNull(),
    name: text().notNull(),
    /** Unhashed, because signatures are checked with it. Null until it is entered. */
    secret: text(),
    /** The previous secret, which is accepted until `previousSecretUntil`. */
    previousSecret: text('previous_secret'),
    previousSecretUntil: integer('previous_secret_until'),
    /** JSON object: what the user tells because no event does. */
    options: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    /** Genuine events, including those that are not about a call. */
    events: integer().notNull().default(0),
    lastEventAt: integer('last_event_at'),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
    /** How the polls go that the option `poll` asks for. */
    poll: text({ mode: 'json' }).$type<SourcePoll>(),
    pollDueAt: integer('poll_due_at'),
  },
  (table) => [
    index('sources_by_project').on(table.projectId, table.createdAt),
    index('sources_poll_due').on(table.pollDueAt).where(sql`poll_due_at is not null`),
    // Of other platforms, the API key is a secret, which must not be in a second place.
    index('sources_by_api_key').on(sql`options ->> 'apiKey'`).where(sql`platform = 'livekit'`),
  ],
)

/** The last import of each source's history: see src/sources/history. */
export const sourceImports = sqliteTable(
  'source_imports',
  {
    sourceId: text('source_id')
      .primaryKey()
      .references(() => sources.id, { onDelete: 'cascade' }),
    projectId: projectId(),
    /** `imp_…`. */
    id: text().notNull(),
    state: text({ enum: ['running', 'waiting', 'done', 'stopped', 'failed'] }).notNull(),
    /** Why it is in this state, in a sentence. */
    reason: text(),
    /** What was asked for, how far it came, and what it has found: nothing of any call. */
    progress: text({ mode: 'json' }).$type<ImportProgress>().notNull(),
    /** Null once it has ended. */
    dueAt: integer('due_at'),
  },
  (table) => [
    index('source_imports_due').on(table.dueAt).where(sql`due_at is not null`),
    index('source_imports_by_project').on(table.projectId),
  ],
)

/** What one model costs, in US dollars for as much as `per` says. */
export interface Price {
  kind: 'llm' | 'stt' | 'tts'
  /** Null for any. */
  provider?: string | null
  /** May end in `*`. */
  model: string
  /** An ISO date. */
  from: string
  per: '1M tokens' | '1K tokens' | 'minute' | '1K characters' | '1M characters'
  input?: number
  cachedInput?: number
  cacheWrite?: number
  audioInput?: number
  output?: number
  audioOutput?: number
  price?: number
}

/** Times in milliseconds since 1970. */
export interface SourcePoll {
  /** When polling was switched on: a call that ended before is history. */
  since: number
  /** The next poll asks for the calls that began since then, and for those of the hour before. */
  from: number
  /** When the last poll that succeeded began. */
  lastAt: number | null
  /** Why the last poll has failed, or could not read a call. */
  reason: string | null
}

export interface ImportProgress {
  /** As it was asked for, to go on from where the same request has failed. */
  request: string
  /** The calls that began in this span, in milliseconds since 1970. */
  since: number
  until: number
  /** How many calls are to be written. */
  limit: number | null
  /** Requests a second. */
  rate: number
  withRecordings: boolean
  /** Whose calls are left, of a platform that lists the calls of one agent. The cursor is the first one's. */
  agents?: string[]
  /** Where the next page begins, in the platform's words; null for the first one. */
  cursor: string | null
  /** How many calls a page has. */
  pageSize: number
  /** How often a cursor was refused. */
  restarts: number
  /** When the newest call of the last page began. */
  at: number | null
  counts: Record<ImportCount, number>
  /** What could not be read: names of fields, never values. */
  samples: { field: string; message: string; count: number }[]
  recordingsQueued: number
  failingSince: number | null
  attempts: number
}

export type ImportCount =
  | ('created' | 'changed' | 'unchanged' | 'live' | 'erased' | 'failed')
  | ('notVoice' | 'test' | 'deletedThere' | 'unmatched')

/** Events that could not be read. A trigger deletes those of a call with the call. */
export const sourceFailures = sqliteTable(
  'source_failures',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    projectId: projectId(),
    sourceId: text('source_id')
      .notNull()
      .references(() => sources.id, { onDelete: 'cascade' }),
    at: integer().notNull(),
    /** Null if the event has no call id; then nothing of it is kept. */
    callId: text('call_id'),
    field: text().notNull(),
    message: text().notNull(),
    /** JSON: the fields that the platform's mapping reads, and no others. Null if it is too long. */
    event: text(),
  },
  (table) => [
    index('source_failures_by_source').on(table.sourceId, table.seq),
    index('source_failures_by_call').on(table.projectId, table.callId),
    index('source_failures_by_time').on(table.at),
  ],
)

/** Agents' questions, in projects that keep them. A trigger deletes the questions of a call with the call. */
export const questions = sqliteTable(
  'questions',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    projectId: projectId(),
    at: integer().notNull(),
    /** The platform's id of the call in which it was asked; null if unknown. */
    callId: text('call_id'),
    /** The keyed hash by which equal questions are one: see knowledge/questions/wording.ts. */
    wording: text().notNull(),
    query: text().notNull(),
    /** JSON: the tags within which it was asked, as knowledge/tags.ts has them. */
    tags: text({ mode: 'json' }).$type<string[][]>().notNull().default([]),
    /** How much of the question the best passage covered; null where search does not tell. */
    coverage: real(),
    /**
     * JSON: the passages found, best first, each as the row number of its item and its position there. The number
     * reveals nothing once the item is deleted.
     */
    hits: text({ mode: 'json' }).$type<[itemSeq: number, position: number][]>().notNull(),
    /** JSON: row numbers of the items that the agent read whole, after this question and before the next of its call. */
    reads: text({ mode: 'json' }).$type<number[]>().notNull().default([]),
  },
  (table) => [
    index('questions_by_time').on(table.projectId, table.at),
    index('questions_by_call').on(table.projectId, table.callId),
    // It has all that questions are counted by.
    index('questions_by_wording').on(table.projectId, table.wording, table.at, table.coverage),
  ],
)

/**
 * What is known of a wording beside its askings: what search finds since knowledge has changed, and what people say. It
 * has no words, and a trigger deletes it with the last question of the wording.
 */
export const questionStates = sqliteTable(
  'question_states',
  {
    projectId: projectId(),
    wording: text().notNull(),
    /** The coverage as in `questions`, of the last time that the service itself asked. */
    coverage: real(),
    hits: text({ mode: 'json' }).$type<[itemSeq: number, position: number][]>(),
    /** Since when asking finds an answer, or none; null while the service has not asked. */
    since: integer(),
    mark: text({ enum: ['answered', 'not_answered', 'dismissed'] }),
    markedAt: integer('marked_at'),
    markedBy: text('marked_by').references(() => people.id, { onDelete: 'set null' }),
    assigneeId: text('assignee_id').references(() => people.id, { onDelete: 'set null' }),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.wording] })],
)

/** Questions that people saved with the item that answers them. */
export const goldenQuestions = sqliteTable(
  'golden_questions',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    /** `gq_…`. */
    id: text().notNull().unique(),
    projectId: projectId(),
    /** The call whose caller's words these are: a trigger deletes them with it. Null for a person's own words. */
    callId: text('call_id'),
    wording: text().notNull(),
    query: text().notNull(),
    /** JSON: the tags within which it is asked, as in `questions`. */
    tags: text({ mode: 'json' }).$type<string[][]>().notNull().default([]),
    /** The path of the file that has it in its front matter; null for a person's. */
    file: text(),
    /** The row number of the item. */
    itemSeq: integer('item_seq').notNull(),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by').references(() => people.id, { onDelete: 'set null' }),
  },
  (table) => [
    uniqueIndex('golden_questions_by_wording').on(table.projectId, table.wording),
    index('golden_questions_by_call').on(table.projectId, table.callId),
  ],
)

/** What a project's golden questions found, each time that it differed from before. */
export const goldenRuns = sqliteTable(
  'golden_runs',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    projectId: projectId(),
    at: integer().notNull(),
    /** When a run last found the same. */
    lastAt: integer('last_at').notNull(),
    /** JSON object: the rank of each question's item, 1 to 5, by the question's row number; 0 where it was not found. */
    ranks: text({ mode: 'json' }).$type<Record<string, number>>().notNull(),
  },
  (table) => [index('golden_runs_by_project').on(table.projectId, table.seq)],
)

/** Tests that were made of calls: see src/cases. A case is deleted with its call. */
export const cases = sqliteTable(
  'cases',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    /** `case_…`. */
    id: text().notNull(),
    projectId: projectId(),
    callSeq: integer('call_seq')
      .notNull()
      .references(() => calls.seq, { onDelete: 'cascade' }),
    turn: integer().notNull(),
    /** JSON: see src/cases/schemas.ts. */
    content: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
    /** SHA-256 of what is expected. */
    expectHash: text('expect_hash').notNull(),
    createdAt: integer('created_at').notNull(),
    createdBy: text('created_by'),
  },
  (table) => [
    uniqueIndex('cases_by_project').on(table.projectId, table.id),
    uniqueIndex('cases_by_call').on(table.callSeq, table.turn, table.expectHash),
  ],
)

/** What the service knows about this database: its generation and the secrets it made for itself. */
export const meta = sqliteTable('meta', {
  name: text().primaryKey(),
  value: text().notNull(),
})

/** Receipts of deleted projects. They refer to nothing, since all rows of the project are gone. */
export const projectErasures = sqliteTable('project_erasures', {
  projectId: integer('project_id').primaryKey(),
  /** HMAC-SHA-256 of the project's public id. */
  idHash: text('id_hash').notNull(),
  requestedAt: integer('requested_at').notNull(),
  doneAt: integer('done_at'),
})

// What better-auth keeps of people who sign in to the console: its field names, our table names.
// https://www.better-auth.com/docs/concepts/database#core-schema

export const people = sqliteTable('people', {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: integer('email_verified', { mode: 'boolean' }).notNull().default(false),
  image: text(),
  twoFactorEnabled: integer('two_factor_enabled', { mode: 'boolean' }).notNull().default(false),
  ...timestamps(),
})

export const sessions = sqliteTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: personId('user_id'),
    token: text().notNull().unique(),
    expiresAt: instant('expires_at').notNull(),
    /** However often it is used; null for the longest that any may last. */
    endsAt: instant('ends_at'),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    ...timestamps(),
  },
  (table) => [index('sessions_by_person').on(table.userId)],
)

/** How a person signs in: by password, as a salted scrypt hash, or as a subject of an issuer of OpenID Connect. */
export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    userId: personId('user_id'),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: instant('access_token_expires_at'),
    refreshTokenExpiresAt: instant('refresh_token_expires_at'),
    scope: text(),
    password: text(),
    ...timestamps(),
  },
  (table) => [index('accounts_by_person').on(table.userId)],
)

/** The second factor of a person: the secret of an authenticator app, and backup codes, both encrypted by better-auth. */
export const twoFactors = sqliteTable('two_factors', {
  id: text().primaryKey(),
  userId: personId('user_id').unique(),
  secret: text().notNull(),
  backupCodes: text('backup_codes').notNull(),
  /** Whether a code of the app has been given: until then sign-in asks for none. */
  verified: integer({ mode: 'boolean' }).notNull().default(false),
  failedVerificationCount: integer('failed_verification_count').notNull().default(0),
  lockedUntil: instant('locked_until'),
})

export const verifications = sqliteTable(
  'verifications',
  {
    id: text().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: instant('expires_at').notNull(),
    ...timestamps(),
  },
  (table) => [index('verifications_by_identifier').on(table.identifier)],
)

/** How often an address tried to sign in. */
export const signInLimits = sqliteTable('sign_in_limits', {
  id: text().primaryKey(),
  key: text().notNull().unique(),
  count: integer().notNull(),
  lastRequest: integer('last_request').notNull(),
})

/** Who may see a project in the console. */
export const members = sqliteTable(
  'members',
  {
    projectId: projectId(),
    personId: personId('person_id'),
    role: text({ enum: ['owner', 'member', 'viewer'] }).notNull(),
    /** What the role would be without the person's groups at the sign-in provider; null if they do not raise it. */
    withoutGroups: text('without_groups', { enum: ['owner', 'member', 'viewer', 'none'] }),
    createdAt: integer('created_at').notNull(),
    /** How the person has arranged the views: their ids in order, the one that the list of calls begins with, and the overview. */
    views: text({ mode: 'json' }).$type<{
      order?: string[]
      first?: string | null
      overview?: { order: string[]; hidden: string[] }
    }>(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.personId] }),
    index('members_by_person').on(table.personId),
  ],
)

/** Filters of the console's list of calls that somebody keeps under a name. */
export const callViews = sqliteTable(
  'call_views',
  {
    id: text().primaryKey(),
    projectId: projectId(),
    /** Who keeps it. */
    personId: personId('person_id'),
    /** Whether everybody in the project sees it. */
    isShared: integer('is_shared', { mode: 'boolean' }).notNull(),
    name: text().notNull(),
    /** Whether it is a view of the list of calls or a chart. */
    page: text({ enum: ['calls', 'chart'] }).notNull(),
    /** The query of the page's address. */
    query: text().notNull(),
  },
  (table) => [index('call_views_by_project').on(table.projectId)],
)

/** The calls of a list, frozen at one moment: to review them one after the other, or to change them together. */
export const callSets = sqliteTable(
  'call_sets',
  {
    /** `set_…`. */
    id: text().primaryKey(),
    projectId: projectId(),
    /** Whose it is. */
    personId: personId('person_id'),
    /** The name of a queue of reviews; null for calls that were selected. */
    name: text(),
    /** JSON array of row numbers, which reveal nothing. */
    seqs: text().notNull(),
    createdAt: integer('created_at').notNull(),
    /** It is deleted afterwards. */
    keptUntil: integer('kept_until').notNull(),
  },
  (table) => [index('call_sets_by_person').on(table.projectId, table.personId)],
)

/** One-time links: into a project, or to a new password. Only the hash of a link's token is stored. */
export const invitations = sqliteTable(
  'invitations',
  {
    id: text().primaryKey(),
    projectId: integer('project_id').references(() => projects.id, { onDelete: 'cascade' }),
    role: text({ enum: ['owner', 'member', 'viewer'] }),
    /** Whose password it resets; null for an invitation. */
    personId: text('person_id').references(() => people.id, { onDelete: 'cascade' }),
    tokenHash: text('token_hash').notNull().unique(),
    createdBy: text('created_by'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (table) => [index('invitations_by_project').on(table.projectId)],
)

/** Who did what, when, from where. A deleted record is named by its keyed hash only. */
export const auditEvents = sqliteTable(
  'audit_events',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    /** Null for what belongs to no project, such as a sign-in, or that a project was deleted. */
    projectId: integer('project_id'),
    /** Counts the entries of the project, or of the actor if it belongs to no project. People see this, never `seq`. */
    number: integer().notNull(),
    at: integer().notNull(),
    /** A `stranger` did not prove to be the person whom `actorId` names. */
    actorKind: text('actor_kind', {
      enum: ['person', 'key', 'commandLine', 'service', 'stranger'],
    }).notNull(),
    /** A person's id or a key's id; null for the command line and for the service. */
    actorId: text('actor_id'),
    /** The actor as people know it, at that time. */
    actorName: text('actor_name'),
    action: text().notNull(),
    /** What it was done to, in words: an id, a name or a keyed hash. */
    target: text(),
    /** What finds it while it exists: the row number of a call or an item, which reveals nothing; else its id. */
    targetRef: text('target_ref'),
    ipAddress: text('ip_address'),
  },
  (table) => [
    index('audit_events_by_project').on(table.projectId, table.seq),
    uniqueIndex('audit_events_by_number').on(table.projectId, table.number),
    index('audit_events_by_actor').on(table.actorId, table.seq),
  ],
)

/** A figure of the call's sound. Virtual, so that no write pays for it. */
function soundFigure(column: string, name: (typeof soundFigures)[number]) {
  return real(column).generatedAlwaysAs(sql.raw(`sound ->> '$.${name}'`))
}

/** A phone number without the separators between its digits. */
function withoutPunctuation(column: string): SQL {
  return [...' +-()./'].reduce(
    (value, sign) => sql`replace(${value}, ${sql.raw(`'${sign}'`)}, '')`,
    sql.raw(column),
  )
}
