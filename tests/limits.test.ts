import { expect, spyOn, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { limitedTexts } from '../src/calls/schemas.ts'
import { FileReader } from '../src/knowledge/files/file-reader.ts'
import { type Limit, limits } from '../src/limits.ts'
import { mp4Length } from '../src/recordings/audio/mp4.ts'
import { SharedLimit } from '../src/shared-limit.ts'
import { addSource } from './sources/deliver.ts'
import { apiKey, apiSecret, formOf, tokenOf } from './sources/otel/livekit-requests.ts'
import { startConsole } from './support/console.ts'
import { formOf as fileForm, makeDocx, makePdf, pdfOf } from './support/files.ts'
import { repository } from './support/process.ts'
import { head, opened, rawRequest } from './support/raw-http.ts'
import { startService, type TestProject } from './support/service.ts'
import { until } from './support/until.ts'

// Every row of the table in src/limits.ts: as the guide shows it, and kept when somebody sends more.

const [kib, mib] = [1_024, 1_048_576]
const [json, protobuf] = ['application/json', 'application/x-protobuf']
const [otlp, livekit] = ['/ingest/otlp/v1/traces', '/observability/traces/otlp/v0']
const uploads = '/observability/recordings/v0'
const boundary = 'b'.repeat(20)
const longForm = `multipart/form-data; boundary=${boundary}`
/** The settings that limits are named by. */
const settings: Readonly<Record<string, number>> = {
  BODY_MAX_BYTES: 32 * mib,
  CALL_MAX_BYTES: 8 * mib,
  KNOWLEDGE_TEXT_MAX_BYTES: mib,
  RECORDING_MAX_BYTES: 2 * mib,
}
const bodyBytesMax = 1_000_000
const windowBytes = 64 * kib
const typed = { 'Content-Type': json }

const service = await startService({ env: { RECORDING_MAX_BYTES: String(settings.RECORDING_MAX_BYTES) } })
/** The same with smaller bodies, of which many are held. */
const narrow = await startService({ env: { BODY_MAX_BYTES: String(bodyBytesMax) } })
const project = await service.mintProject()
const { sources } = service.services
await sources.create(project.projectId, { platform: 'livekit', secret: apiSecret, options: { apiKey } })
const source = await addSource(service, project, 'elevenlabs')
const token = tokenOf()
const console = await startConsole(service)
const owner = console.owner
const owned = await console.mintProject()

function headersOf(path: string, { key, ingestKey } = project): Record<string, string> {
  if (path.startsWith('/console') || path.startsWith('/ingest/from')) return {}
  if (path.startsWith('/observability')) return { Authorization: `Bearer ${token}` }
  return { Authorization: `Bearer ${path.startsWith('/ingest') ? ingestKey : key}` }
}

/** The statuses of requests, each once. */
async function statusesOf(answers: Iterable<Promise<{ status: number | null }>>): Promise<string> {
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  return [...new Set(statuses)].join(', ')
}

/** The status of a request that only says how long its body is, a byte more than there may be. */
function declared(most: number, path: string, type = json, method = 'POST') {
  const length = { 'Content-Type': type, 'Content-Length': String(most + 1) }
  const own = { Host: new URL(service.url).host, Origin: service.url }
  const headers = { ...headersOf(path), ...length, ...own }
  return rawRequest(service.url, head(`${method} ${path} HTTP/1.1`, headers), { waitMs: 20_000 })
}

type Body = string | Uint8Array<ArrayBuffer> | FormData

function send(path: string, body: Body, headers: Record<string, string> = {}, method = 'POST') {
  return fetch(service.url + path, { method, body, headers: { ...headersOf(path), ...headers } })
}

async function put(change: string): Promise<string> {
  return String((await send('/ingest/calls/a', change, { 'Content-Type': json }, 'PUT')).status)
}

/** The status of a request whose first bytes arrive, while the clock runs on; and how long it was given. */
async function lateAnswer(request: string, stepMs: number, most: number): Promise<string> {
  const clock = performance.now.bind(performance)
  let passedMs = 0
  const spy = spyOn(performance, 'now').mockImplementation(() => clock() + passedMs)
  const { socket, received } = await opened(service.url, request)
  try {
    while (!received().includes('must arrive within')) {
      passedMs += stepMs
      await Bun.sleep(50)
    }
    expect(received()).toContain(`must arrive within ${most / 1_000} seconds`)
    return received().slice(9, 12)
  } finally {
    spy.mockRestore()
    socket.destroy()
  }
}

/** A request of which only the first bytes are there. */
function begun(path: string, bytes: number, text: string, type = json, method = 'POST'): string {
  const length = { 'Content-Type': type, 'Content-Length': String(bytes) }
  return head(`${method} ${path} HTTP/1.1`, { ...headersOf(path), ...length }) + text
}

/** Runs while one project holds as many bodies as it may. @param begin what each of them has sent so far */
async function whileHeld<Value>(
  run: (of: TestProject) => Promise<Value>,
  begin: (of: TestProject) => Promise<string> | string = beginPut,
): Promise<Value> {
  const of = await narrow.mintProject()
  const text = await begin(of)
  const held = await Promise.all([1, 2, 3].map(() => opened(narrow.url, text)))
  try {
    await until(async () => {
      for (const [at, one] of held.entries()) if (!isHeld(one)) held[at] = await opened(narrow.url, text)
      // Two fill the share of a project; what was refused meanwhile holds nothing.
      const isRefused = (await putLarge(of)).status === 503
      return isRefused && held.filter(isHeld).length >= 2
    }, 'Bodies that are held')
    return await run(of)
  } finally {
    for (const { socket } of held) socket.destroy()
  }
}

/** Whether a request has no answer yet, nor a connection that a busy machine has cut. */
function isHeld({ socket, received }: Awaited<ReturnType<typeof opened>>): boolean {
  return received() === '' && socket.readyState === 'open'
}

function beginPut(of: TestProject): string {
  const headers = { ...headersOf('/ingest', of), 'Content-Type': json, 'Content-Length': '990000' }
  return `${head('PUT /ingest/calls/held HTTP/1.1', headers)}${' '.repeat(989_980)}`
}

/** An upload of LiveKit's of which no part but the header is whole. */
async function beginUpload({ projectId, id }: TestProject): Promise<string> {
  const source = { platform: 'livekit', secret: apiSecret, options: { apiKey: id } } as const
  await narrow.services.sources.create(projectId, source)
  const headers = {
    Authorization: `Bearer ${tokenOf({ iss: id })}`,
    'Content-Type': longForm,
    'Content-Length': '1100000',
  }
  const parts = [partOf('header', 'B\u0001a'), partOf('chat_history', ' '.repeat(989_980))]
  return head(`POST ${uploads} HTTP/1.1`, headers) + parts.join('\r\n')
}

function partOf(name: string, text: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}`
}

function putLarge(of: TestProject): Promise<Response> {
  return of.send('PUT', '/ingest/calls/large', { callAnalysis: { text: 'x'.repeat(900_000) } })
}

/** What becomes of a file that a project reads. */
async function fileOutcome(name: string, bytes: Uint8Array): Promise<string> {
  const reader = new FileReader()
  const outcome = await reader.read({ name, bytes }).then(
    () => 'read',
    ({ status }: { status: number }) => String(status),
  )
  await reader.close()
  return outcome
}

/** A span of a framework in a request, with fields that nobody reads. */
function spanOf(fields: number): Uint8Array<ArrayBuffer> {
  const { LengthDelimited } = WireType
  const span = Buffer.alloc(fields * 2, Buffer.from([0x78, 0]))
  const scope = new BinaryWriter().tag(1, LengthDelimited).string('livekit-agents').finish()
  const scopeSpans = new BinaryWriter()
    .tag(1, LengthDelimited)
    .bytes(scope)
    .tag(2, LengthDelimited)
    .bytes(span)
  const resource = new BinaryWriter().tag(2, LengthDelimited).bytes(scopeSpans.finish())
  return new BinaryWriter().tag(1, LengthDelimited).bytes(resource.finish()).finish()
}

const header = ['header', 'application/protobuf', new Uint8Array([0x42, 1, 0x61])] as const

function upload(...parts: Parameters<typeof formOf>[0][number][]): Promise<Response> {
  const { type, body } = formOf(parts)
  return send(uploads, body, { 'Content-Type': type })
}

async function itemOf(of: TestProject): Promise<string> {
  return (await (await of.send('POST', '/v1/knowledge', { name: 'n', text: 't' })).json()).id
}

/** Every route that takes the text of an item: by key, and in the console. */
function textRoutes(item: string, inConsole: string, consoleItem: string) {
  const asked = [
    ['POST', '/v1/knowledge'],
    ['PUT', item],
    ['PATCH', item],
    ['POST', '/v1/knowledge/preview'],
  ] as const
  const ofPeople = [
    ['POST', inConsole],
    ['POST', `${inConsole}/preview`],
    ['PUT', `${inConsole}/${consoleItem}`],
    ['POST', `${inConsole}/${consoleItem}/preview`],
  ] as const
  return [asked, ofPeople] as const
}

async function manyMembers(most: number): Promise<string> {
  const list = `[${'1,'.repeat(most - 1)}1]`
  const body = `{"x":${list}}`
  const inConsole = `/projects/${owned.id}/knowledge`
  const [ofTexts, ofPeople] = textRoutes('/v1/knowledge/kn_1', inConsole, await itemOf(owned))
  const others = [
    ['PUT', '/ingest/calls/a'],
    ['POST', otlp],
    ['POST', '/integrations/tool'],
  ] as const
  const type = { 'Content-Type': json }
  const byLine = await send('/ingest/calls', `{"id":"a","x":${list}}`, {
    'Content-Type': 'application/x-ndjson',
  })
  return await statusesOf([
    ...[...ofTexts, ...others].map(([method, path]) => send(path, body, type, method)),
    ...ofPeople.map(([method, path]) => owner.fetch(path, { method, body, headers: type })),
    owner.fetch(inConsole, { method: 'DELETE', body, headers: type }),
    source.send(body),
    upload(header, ['chat_history', json, new Uint8Array(Buffer.from(body))]),
    byLine.json(),
  ])
}

async function resultOf(name: string, args: object) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  })
  const headers = { 'Content-Type': json, Accept: `${json}, text/event-stream` }
  return (await (await send('/mcp', body, headers)).json()).result
}

async function callTool(name: string, args: object) {
  return (await resultOf(name, args)).structuredContent
}

/** Reads the length of an MP4 file with so many parts, each made when it is read. */
async function mp4Outcome(part: () => Buffer, parts: number, msMax = 60_000): Promise<string> {
  const partBytes = part().length
  const read = async (start: number, end: number) => {
    const whole = part()
    const from = start % partBytes
    return whole.subarray(from, Math.min(partBytes, from + end - start))
  }
  return await mp4Length({ bytes: parts * partBytes, read }, msMax).then(
    ({ durationSeconds }) => `${durationSeconds} seconds`,
    () => 'no length',
  )
}

/** An empty atom, or one with so many bytes. */
function atomOf(name: string, bytes: number): Buffer {
  const atom = Buffer.alloc(bytes)
  atom.writeUInt32BE(bytes)
  atom.write(name, 4)
  return atom
}

/** What becomes of more than the table says. */
const hostile: Record<keyof typeof limits, (most: number) => Promise<string>> = {
  body: async (most) => {
    const console = owner.fetch(`/projects/${owned.id}/knowledge`, {
      method: 'POST',
      body: ' '.repeat(most + 1),
      headers: { 'Content-Type': json },
    })
    const inflating = { 'Content-Encoding': 'gzip', 'Content-Type': protobuf }
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(most + 1)))
    const flat = new Uint8Array(deflateSync(Buffer.alloc(most + 1)))
    return await statusesOf([
      ...['/v1/knowledge', '/ingest/calls', source.path].map((path) =>
        declared(most, path, path === '/ingest/calls' ? 'application/x-ndjson' : json),
      ),
      ...[otlp, livekit].map((path) => declared(most, path, protobuf)),
      ...[otlp, livekit].map((path) => send(path, bomb, inflating)),
      send(otlp, flat, { ...inflating, 'Content-Encoding': 'deflate' }),
      console,
    ])
  },
  searchBody: (most) => statusesOf([declared(most, '/v1/knowledge/search')]),
  agentBody: (most) => statusesOf([declared(most, '/integrations/tool')]),
  signInBody: (most) =>
    statusesOf(['/session', '/links/setup'].map((path) => declared(most, `/console/api${path}`))),
  signedBody: (most) => statusesOf([declared(most, source.path)]),
  otherBody: (most) => statusesOf(['/mcp', '/v1/alerts'].map((path) => declared(most, path))),
  gzipBody: async () => {
    const liar = gzipSync(Buffer.alloc(8 * mib))
    liar.writeUInt32LE(1_000, liar.length - 4)
    const message = gzipSync(Buffer.of(0x0a, 0))
    const two = Buffer.concat([message, message])
    const headers = { 'Content-Encoding': 'gzip', 'Content-Type': protobuf }
    const sent = [liar, two].map((body) => new Uint8Array(body))
    return await statusesOf([otlp, livekit].flatMap((path) => sent.map((body) => send(path, body, headers))))
  },
  bodiesHeld: async () => {
    // Both wait until a body is 503: later ones may find room, since what is held competes with them.
    const isRefused = async () => '503'
    return [...new Set([await whileHeld(isRefused), await whileHeld(isRefused, beginUpload)])].join()
  },
  gzipWait: () =>
    whileHeld((of) => {
      const headers = { 'Content-Encoding': 'gzip', 'Content-Type': json }
      const body = new Uint8Array(gzipSync(`{}${' '.repeat(bodyBytesMax - 2)}`))
      return statusesOf([of.fetch(otlp, { method: 'POST', headers, body })])
    }),
  jsonMembers: manyMembers,
  jsonLevels: (most) => put(`{"callAnalysis":{"a":${'['.repeat(most)}${']'.repeat(most)}}}`),
  lines: async (most) => {
    const lines = await send('/ingest/calls', '\n'.repeat(most + 1), {
      'Content-Type': 'application/x-ndjson',
    })
    return String((await lines.json()).status)
  },
  call: (most) => put(JSON.stringify({ callAnalysis: { text: 'x'.repeat(most) } })),
  callText: async (most) => {
    const answers = limitedTexts.map((name) => put(JSON.stringify({ [name]: 'x'.repeat(most + 1) })))
    return [...new Set(await Promise.all(answers))].join(', ')
  },
  turns: (most) => put(JSON.stringify({ transcript: Array(most + 1).fill({ role: 'user', content: 'a' }) })),
  timeline: (most) => {
    const timeline = Array(most + 1).fill({ atSeconds: 1, kind: 'other', text: 'a' })
    return put(JSON.stringify({ details: { timeline } }))
  },
  metadata: (most) => put(JSON.stringify({ metadata: { text: 'x'.repeat(most) } })),
  text: async (most) => {
    const [item, inConsole] = [await itemOf(owned), `/projects/${owned.id}/knowledge`]
    const { changeSeq } = await (await owner.fetch(`${inConsole}/${item}`)).json()
    const body = JSON.stringify({ name: 'n', text: 'x'.repeat(most + 1), changeSeq })
    const type = { 'Content-Type': json }
    const [asked, ofPeople] = textRoutes(`/v1/knowledge/${await itemOf(project)}`, inConsole, item)
    return await statusesOf([
      ...asked.map(([method, path]) => send(path, body, type, method)),
      ...ofPeople.map(([method, path]) => owner.fetch(path, { method, body, headers: type })),
    ])
  },
  file: (most) => statusesOf([send('/v1/knowledge/files', fileForm('a.txt', new Uint8Array(most + 1)))]),
  fileInflated: (most) => fileOutcome('a.docx', makeDocx(' '.repeat(most + 1))),
  filePages: (most) => fileOutcome('a.pdf', makePdf(Array.from({ length: most + 1 }, () => []))),
  fileLevels: (most) => fileOutcome('a.html', Buffer.from('<div>'.repeat(most + 1))),
  fileTime: async (most) => {
    const processor = spyOn(process, 'cpuUsage').mockImplementation(() => ({
      user: performance.now() * 1_000 * most,
      system: 0,
    }))
    const clock = performance.now.bind(performance)
    const spy = spyOn(performance, 'now').mockImplementation(() => clock() * 10_000)
    try {
      return await fileOutcome('a.csv', Buffer.from(`a,b\n${'1,2\n'.repeat(2 * mib)}`))
    } finally {
      for (const each of [processor, spy]) each.mockRestore()
    }
  },
  fileMemory: (most) =>
    fileOutcome(
      'a.pdf',
      pdfOf(deflateSync(deflateSync(Buffer.alloc(most * 2.4))), '[/FlateDecode /FlateDecode]'),
    ),
  recording: (most) => statusesOf([declared(most, '/ingest/calls/a/recording', 'audio/ogg', 'PUT')]),
  parts: async (most) => {
    const more = Array.from({ length: most }, (_, at) => [`p${at}`, 'text/plain', new Uint8Array(1)] as const)
    const form = fileForm('a.txt', 'text')
    for (let at = 0; at < most; at++) form.append(`p${at}`, 'x')
    const text = `${Array.from({ length: most + 1 }, (_, at) => `${partOf(`p${at}`, 'x')}\r\n`).join('')}--${boundary}--`
    const hidden = { 'Content-Type': `multipart/form-data; xboundary=none; boundary=${boundary}` }
    return await statusesOf([
      upload(header, ...more),
      send('/v1/knowledge/files', form),
      send('/v1/knowledge/files', text, hidden),
    ])
  },
  uploadHeader: (most) => statusesOf([upload(['header', protobuf, new Uint8Array(most + 1)])]),
  uploadHistory: (most) => statusesOf([upload(header, ['chat_history', json, new Uint8Array(most + 1)])]),
  arrival: (most) => lateAnswer(begun('/ingest/calls/a', 20_000, '{', json, 'PUT'), 10_000, most),
  formArrival: (most) => {
    const text = `${partOf('header', 'B\u0001a')}\r\n${partOf('audio', 'x'.repeat(10 * mib))}`
    return lateAnswer(begun(uploads, 20 * mib, text, longForm), 10_000, most)
  },
  unverifiedArrival: (most) => lateAnswer(begun(source.path, 20_000, '{'), 1_000, most),
  token: (most) => {
    const headers = {
      Authorization: `Bearer ${tokenOf({ name: 'x'.repeat(most) })}`,
      'Content-Type': protobuf,
    }
    return statusesOf([send(livekit, new Uint8Array(), headers)])
  },
  telemetryFields: (most) =>
    statusesOf(
      [otlp, livekit].map((path) =>
        send(path, new Uint8Array(Buffer.alloc((most + 1) * 2, Buffer.from([0x78, 0]))), {
          'Content-Type': protobuf,
        }),
      ),
    ),
  spanFields: (most) =>
    statusesOf([otlp, livekit].map((path) => send(path, spanOf(most + 1), { 'Content-Type': protobuf }))),
  audioWindows: (most) => mp4Outcome(() => atomOf('free', windowBytes), most + 1),
  audioBytes: (most) => {
    const runs = 8
    return mp4Outcome(() => atomOf('trun', most / runs), runs + 1)
  },
  audioTime: (most) => {
    const clock = performance.now.bind(performance)
    let passedMs = 0
    const spy = spyOn(performance, 'now').mockImplementation(() => clock() + passedMs)
    return mp4Outcome(
      () => {
        passedMs += most
        return atomOf('free', windowBytes)
      },
      4,
      most,
    ).finally(() => spy.mockRestore())
  },
  mcpPage: async (most) => {
    const transcript = Array(9).fill({ role: 'user', content: 'x'.repeat(most / 10) })
    for (const id of ['page-a', 'page-b'])
      await send(`/ingest/calls/${id}`, JSON.stringify({ transcript, endedReason: 'page' }), typed, 'PUT')
    const { nextCursor } = await callTool('list_calls', { filters: { endedReason: 'page' } })
    return nextCursor === null ? 'the whole page' : 'next page'
  },
  mcpCall: async (most) => {
    const turns = 40
    const transcript = Array(turns).fill({ role: 'user', content: 'x'.repeat((2 * most) / turns) })
    await send('/ingest/calls/long', JSON.stringify({ transcript }), { 'Content-Type': json }, 'PUT')
    const { nextTurn } = await callTool('get_call', { id: 'long', maxTurns: turns })
    return nextTurn === null ? 'the whole call' : 'next page'
  },
  mcpTool: async (most) => {
    const wait = globalThis.setTimeout
    const shorter = ((run: () => void, delayMs?: number, ...args: unknown[]) => {
      if (delayMs === most) run()
      return wait(run, delayMs === most ? 0 : delayMs, ...args)
    }) as typeof setTimeout
    const spy = spyOn(globalThis, 'setTimeout').mockImplementation(shorter)
    try {
      return (await resultOf('list_calls', {})).isError ? 'an error' : 'a late answer'
    } finally {
      spy.mockRestore()
    }
  },
}

for (const [name, { way, most, beyond }] of Object.entries<Limit>(limits)) {
  const sendMore = hostile[name as keyof typeof limits]
  test(`of more than its limit becomes what the table says: ${name}: ${way}`, async () => {
    const named = typeof most === 'number' ? most : (settings[most] ?? 0)
    expect(await sendMore(named)).toBe(beyond)
  })
}

test('a body waits for room to be inflated', async () => {
  const headers = { 'Content-Encoding': 'gzip', 'Content-Type': json }
  const body = new Uint8Array(gzipSync(`{}${' '.repeat(bodyBytesMax - 2)}`))
  const room = spyOn(SharedLimit.prototype, 'hasRoom')
  const [waiting] = await whileHeld(async (of) => {
    room.mockClear()
    const answer = of.fetch(otlp, { method: 'POST', headers, body })
    await until(() => room.mock.results.some(({ value }) => value === false), 'A wait for room')
    return [answer]
  })
  room.mockRestore()
  expect((await waiting)?.status).toBe(200)
})

test('the table of the guide has each limit as it is', () => {
  const page = readFileSync(join(repository, 'src/guide/security.md'), 'utf8')
  const [, section = ''] = /\n## What each way in may take\n(.*?)\n## /s.exec(page) ?? []
  const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  expect(cells).toEqual(
    Object.values<Limit>(limits).map((limit) => [limit.way, amountOf(limit), limit.beyond]),
  )
})

function amountOf({ most, unit }: Limit): string {
  if (typeof most === 'string') return most.replace(/[A-Z_]{5,}/, '`$&`')
  if (unit === 'ms') return most < 1_000 ? `${most} ms` : `${most / 1_000} s`
  if (unit !== 'bytes') return most.toLocaleString('en')
  return most < mib ? `${most / kib} KiB` : `${most / mib} MiB`
}
