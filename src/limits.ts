const KiB = 1_024
const MiB = 1_048_576

/** What one way in may take. */
export interface Limit {
  /** The way in, in Markdown. */
  way: string
  /** The most of it, or the name of the setting that says so. */
  most: number | string
  unit: 'bytes' | 'entries' | 'levels' | 'ms'
  /** What becomes of more. */
  beyond: string
}

/**
 * What each way in may read, hold and compute. It is reserved, or counted, before it is spent. The guide's page of
 * security shows this table; tests/limits.test.ts compares the two, and sends each way in more than it may take.
 */
export const limits = {
  body: limit(
    'A body for `/v1/knowledge`, `/ingest`, `/observability`, once inflated',
    'BODY_MAX_BYTES',
    'bytes',
  ),
  searchBody: limit('A body for `/v1/knowledge/search`', 64 * KiB, 'bytes'),
  agentBody: limit('A body for `/integrations`', MiB, 'bytes'),
  signInBody: limit('A body from people who are not signed in', 16 * KiB, 'bytes'),
  signedBody: limit('A body that only its signature shows to be genuine', 4 * MiB, 'bytes'),
  otherBody: limit('Any other body, `/mcp` included', 256 * KiB, 'bytes'),
  gzipBody: limit('What a body in gzip inflates to', 'what its trailer says', 'bytes', '400'),
  bodiesHeld: limit('The bodies that are held at once', '4 × BODY_MAX_BYTES', 'bytes', '503'),
  jsonMembers: limit('Members of the objects and arrays of a JSON text', 250_000, 'entries'),
  jsonLevels: limit('Levels of a JSON text', 100, 'levels', '400'),
  lines: limit('Lines of a body of `POST /ingest/calls`', 10_000, 'entries'),
  call: limit('A call with its details', 'CALL_MAX_BYTES', 'bytes'),
  callText: limit(
    'The summary, the evaluation, the reason for the end or a number of a call',
    64 * KiB,
    'bytes',
    '400',
  ),
  turns: limit('Turns of a call', 10_000, 'entries', '400'),
  timeline: limit('Entries of the timeline of a call', 20_000, 'entries', '400'),
  metadata: limit('The metadata of a call', 64 * KiB, 'bytes', '400'),
  text: limit('The text of an item of knowledge', 'KNOWLEDGE_TEXT_MAX_BYTES', 'bytes'),
  file: limit('A file of knowledge', 20 * MiB, 'bytes'),
  fileInflated: limit('What a Word document inflates to', 64 * MiB, 'bytes', '422'),
  filePages: limit('Pages of a PDF', 2_000, 'entries', '422'),
  fileLevels: limit('Levels of a web page or a Word document', 200, 'levels', '422'),
  fileTime: limit('The reading of a file, and 3 s of a web page', 10_000, 'ms', '422'),
  fileMemory: limit('The memory that reading a file takes', 256 * MiB, 'bytes', '422'),
  recording: limit('A recording', 'RECORDING_MAX_BYTES', 'bytes'),
  parts: limit('Parts of a form', 16, 'entries'),
  uploadHeader: limit("The header of LiveKit's upload", MiB, 'bytes'),
  uploadHistory: limit("The history in LiveKit's upload", 'CALL_MAX_BYTES', 'bytes'),
  arrival: limit('The arrival of a body, and a second more for each 32 KiB', 30_000, 'ms', '400'),
  formArrival: limit('The arrival of a form, and a second more for each 64 KiB', 120_000, 'ms', '400'),
  unverifiedArrival: limit('The arrival of a body of an unknown sender', 5_000, 'ms', '400'),
  gzipWait: limit('The wait for room to inflate a body', 1_000, 'ms', '503'),
  token: limit("A token of LiveKit's", 4 * KiB, 'bytes', '401'),
  telemetryFields: limit('Fields of a request of telemetry in protobuf', 500_000, 'entries', '400'),
  spanFields: limit('Fields of a span or a log in protobuf', 20_000, 'entries', '400'),
  audioWindows: limit(
    'Windows of 64 KiB of an MP4 file that are read for its length',
    2_000,
    'entries',
    'no length',
  ),
  audioBytes: limit('Tables of an MP4 file that are read for its length', 32 * MiB, 'bytes', 'no length'),
  audioTime: limit('The reading of the length of an audio file', 500, 'ms', 'no length'),
  mcpPage: limit('A page of calls by MCP', MiB, 'bytes', 'next page'),
  mcpCall: limit('A call by MCP', 256 * KiB, 'bytes', 'next page'),
  mcpTool: limit('The answer of a tool by MCP', 60_000, 'ms', 'an error'),
} as const satisfies Record<string, Limit>

function limit<Most extends number | string>(way: string, most: Most, unit: Limit['unit'], beyond = '413') {
  return { way, most, unit, beyond }
}
