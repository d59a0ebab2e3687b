import { describe, expect, test } from 'bun:test'
import { Ajv } from 'ajv'
import type { OpenAPIV3_1 } from 'openapi-types'
import { spokenCalls, toWav } from '../../scripts/bench/spoken-calls.ts'
import { createServer } from '../../src/server.ts'
import { nameProblem, plainNamePattern } from '../../src/validation.ts'
import { type Operation, operationsOf, readDocument, resolved } from '../support/document.ts'
import { startFakeChat } from '../support/fake-chat.ts'
import fc, { runs } from '../support/fast-check.ts'
import { formOf } from '../support/files.ts'
import { valuesOf } from '../support/from-schema.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const ajv = new Ajv({
  strict: false,
  allErrors: true,
  formats: { 'date-time': isTime, binary: true, int64: true, double: true },
})
/**
 * What no schema says: a call's uses of models are of different models; the ids of a rubric are different, and those that are named are there; filters are those of calls;
 * an alert has one pair of limits and destinations that there are, of a figure that there is; a source's options are those of its
 * platform, a webhook's address is public, a golden question has an item, and a review's criteria
 * have names, its turns are there; an import's span is of times, of a source with a key.
 */
const asWhole =
  /is there already|is the id of no criterion|for an enum|"detail":"(filters|above|below|to|of|show|minCalls|noData|showOnly)\b|cannot be added|"detail":"(platform|name|secret|options|url|events|project|itemId|criteria|rubric|flaggedTurns|source|since|until|recordings|criterion)\b/

const chat = await startFakeChat()
const env = {
  METRICS_TOKEN: 'token',
  BODY_MAX_BYTES: '5000',
  ANALYSIS_MODEL: 'm',
  ANALYSIS_ENDPOINT: chat.url,
}
const service = await startService({ env })
const minted = await service.mintProject()
const managing = (await minted.makeKey({ scope: 'manage' })).key
/** With a key that opens everything under /v1. */
const project: TestProject = {
  ...minted,
  fetch: (path, { headers = {}, ...init } = {}) => {
    const all = new Headers(headers)
    if (!path.startsWith('/ingest') && !all.has('authorization'))
      all.set('authorization', `Bearer ${managing}`)
    return minted.fetch(path, { ...init, headers: all })
  },
}
const rule = { name: 'Rule', windowMinutes: 5, below: { alert: 1 }, showOnly: true }
await project.send('PUT', '/v1/knowledge/refund-policy', { name: 'Refunds', text: 'We refund.' })
const alertId = (await service.services.alerts.create(project.projectId, rule)).id
const document = await readDocument(service.url)
const operations = operationsOf(document)
const { projectId } = await service.services.projects.create('default')
const settings = { name: 'default', kind: 'live' as const, allowedIps: [], expiresAt: null }
const secret = project.ingestKey
const ofVapi = { platform: 'vapi', secret }
/** A source whose secret is the project's ingest key. */
const sourceId = (await service.services.sources.create(project.projectId, ofVapi)).id
const ofLoopback = { platform: 'vapi', options: { apiKey: 'key', host: '127.0.0.1' } }
const changedSourceId = (await service.services.sources.create(project.projectId, ofLoopback)).id
const ofHook = { url: 'https://example.com/hook' }
const webhookId = (await service.services.webhooks.create(project.projectId, ofHook)).id
/** Is never changed: one that a change has disabled sends nothing again. */
const replayedWebhookId = (await service.services.webhooks.create(project.projectId, ofHook)).id
/** Of a project that is called `default`, as in the examples. */
const defaultKey = (await service.services.keys.create(projectId, settings)).key

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text))
}

/** What else the success of a path is served as. */
const streams = new Map([
  ['/v1/changes', ['text/event-stream']],
  ['/v1/calls', ['application/x-ndjson', 'text/csv']],
  ['/v1/metrics', ['text/csv']],
])
const keyed = '400 401 403 429 500 503'
const expectedStatuses: Record<string, string> = {
  'GET /health': '200 400 500',
  'GET /ready': '200 400 500 503',
  'GET /metrics': '200 400 403 500',
  'GET /v1/calls': `200 304 431 ${keyed}`,
  'GET /v1/calls/{id}': `200 304 404 ${keyed}`,
  'GET /v1/calls/{id}/details': `200 304 404 ${keyed}`,
  'GET /v1/calls/{id}/sound': `200 404 ${keyed}`,
  'DELETE /v1/calls/{id}': `200 404 409 507 ${keyed}`,
  'PUT /v1/calls/{id}/review': `200 404 413 415 507 ${keyed}`,
  'GET /v1/calls/{id}/recording': `200 206 304 404 416 ${keyed}`,
  'DELETE /v1/calls/{id}/recording': `200 404 409 507 ${keyed}`,
  'POST /v1/calls/{id}/recording/links': `201 404 413 415 ${keyed}`,
  'GET /recordings/{id}': '200 206 304 400 404 416 429 500',
  'GET /v1/changes': `200 ${keyed}`,
  'GET /v1/metrics': `200 431 ${keyed}`,
  'GET /v1/compare': `200 431 ${keyed}`,
  'GET /v1/knowledge': `200 304 ${keyed}`,
  'POST /v1/knowledge': `201 409 410 413 415 422 507 ${keyed}`,
  'POST /v1/knowledge/files': `201 409 410 413 415 422 507 ${keyed}`,
  'GET /v1/knowledge/{id}': `200 304 404 405 ${keyed}`,
  'PUT /v1/knowledge/{id}': `200 201 404 405 412 413 415 507 ${keyed}`,
  'PATCH /v1/knowledge/{id}': `200 404 405 412 413 415 507 ${keyed}`,
  'DELETE /v1/knowledge/{id}': `200 404 405 412 507 ${keyed}`,
  'POST /v1/knowledge/preview': `200 413 415 ${keyed}`,
  'POST /v1/knowledge/search': `200 413 415 ${keyed}`,
  'GET /v1/questions': `200 ${keyed}`,
  'GET /v1/questions/{id}': `200 404 ${keyed}`,
  'GET /v1/questions/golden': `200 ${keyed}`,
  'POST /v1/questions/golden': `200 201 413 415 507 ${keyed}`,
  'POST /v1/questions/golden/run': `200 413 415 507 ${keyed}`,
  'DELETE /v1/questions/golden/{id}': `200 404 507 ${keyed}`,
  'POST /v1/erasures': `200 202 413 415 507 ${keyed}`,
  'GET /v1/erasures/{id}': `200 404 ${keyed}`,
  'GET /v1/key': `200 ${keyed}`,
  'GET /v1/calls/{id}/analysis': `200 404 ${keyed}`,
  'GET /v1/cases': `200 ${keyed}`,
  'POST /v1/cases': `200 201 404 409 413 415 507 ${keyed}`,
  'GET /v1/cases/{id}': `200 404 ${keyed}`,
  'DELETE /v1/cases/{id}': `200 404 507 ${keyed}`,
  'GET /v1/cases/export': `200 404 ${keyed}`,
  'GET /v1/alerts': `200 ${keyed}`,
  'POST /v1/alerts': `201 413 415 507 ${keyed}`,
  'GET /v1/alerts/{id}': `200 404 ${keyed}`,
  'PUT /v1/alerts/{id}': `200 404 413 415 507 ${keyed}`,
  'DELETE /v1/alerts/{id}': `200 404 507 ${keyed}`,
  'GET /v1/sources': `200 ${keyed}`,
  'POST /v1/sources': `201 413 415 507 ${keyed}`,
  'GET /v1/sources/{id}': `200 404 ${keyed}`,
  'PATCH /v1/sources/{id}': `200 404 413 415 507 ${keyed}`,
  'DELETE /v1/sources/{id}': `200 404 507 ${keyed}`,
  'POST /v1/sources/{id}/secret': `200 404 413 415 507 ${keyed}`,
  'GET /v1/sources/{id}/failures': `200 404 ${keyed}`,
  'POST /v1/sources/{id}/import': `200 202 404 409 413 415 507 ${keyed}`,
  'GET /v1/sources/{id}/import': `200 404 ${keyed}`,
  'DELETE /v1/sources/{id}/import': `200 404 507 ${keyed}`,
  'GET /v1/webhooks': `200 ${keyed}`,
  'POST /v1/webhooks': `201 413 415 507 ${keyed}`,
  'GET /v1/webhooks/{id}': `200 404 ${keyed}`,
  'PATCH /v1/webhooks/{id}': `200 404 413 415 507 ${keyed}`,
  'DELETE /v1/webhooks/{id}': `200 404 507 ${keyed}`,
  'POST /v1/webhooks/{id}/secret': `200 404 413 415 507 ${keyed}`,
  'POST /v1/webhooks/{id}/replay': `202 404 413 415 507 ${keyed}`,
  'GET /v1/webhooks/{id}/deliveries': `200 404 ${keyed}`,
  'GET /v1/rubric': `200 404 ${keyed}`,
  'PUT /v1/rubric': `200 201 413 415 507 ${keyed}`,
  'POST /v1/rubric/trial': `200 404 409 413 415 507 ${keyed}`,
  'GET /v1/rubric/agreement': `200 404 ${keyed}`,
  'POST /v1/analyses': `200 202 404 413 415 507 ${keyed}`,
  'GET /v1/analyses/{id}': `200 404 ${keyed}`,
  'DELETE /v1/analyses/{id}': `200 404 507 ${keyed}`,
  'POST /integrations/vapi/knowledge': `200 413 415 ${keyed}`,
  'POST /integrations/vapi/tool': `200 413 415 ${keyed}`,
  'POST /integrations/dify/retrieval': `200 404 413 415 ${keyed}`,
  'POST /integrations/tool': `200 413 415 ${keyed}`,
  'POST /ingest/calls': `200 413 415 ${keyed}`,
  'POST /ingest/otlp/v1/traces': `200 413 415 ${keyed}`,
  'POST /ingest/from/{id}': '200 400 401 404 413 415 429 500 503',
  'PUT /ingest/calls/{id}/recording': `200 201 409 410 413 415 507 ${keyed}`,
  'PUT /ingest/calls/{id}': `200 201 204 409 410 413 415 507 ${keyed}`,
}

type Content = Record<string, OpenAPIV3_1.MediaTypeObject>

function contentOf(operation: Operation, status: string): Content {
  return operation.responses[status]?.content ?? {}
}

function requestContentOf(operation: Operation): Content {
  return operation.requestBody?.content ?? {}
}

describe('the OpenAPI document', () => {
  test("describes every route but pages and their icon, the console's own and protocols that describe themselves", () => {
    const routes = createServer(service.services, () => null)
      .routes.map(({ method, path }) => `${method} ${path.replace(':id', '{id}')}`)
      .filter(
        (route) =>
          !/^(GET \/($|docs|favicon|openapi|llms)|[A-Z]+ \/console\b|POST \/(mcp$|observability\/))/.test(
            route,
          ),
      )
    const described = operations.map(({ method, path }) => `${method} ${path}`)
    expect(described.sort()).toEqual([...new Set(routes)].sort())
    expect(described).toEqual(Object.keys(expectedStatuses).sort())
  })

  test('names each operation, sums it up, and says which key it takes', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(operations.length)
    const tags = document.tags?.map(({ name }) => name)
    for (const operation of operations) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(operation.summary).toMatch(/^[A-Z].{5,80}[^.]$/)
      expect(tags).toContain(operation.tags?.[0] ?? 'none')
      const scheme = operation.path.startsWith('/v1')
        ? [{ apiKey: [] }]
        : /^\/ingest\/(calls|otlp)/.test(operation.path)
          ? [{ ingestKey: [] }]
          : operation.path.startsWith('/integrations/vapi')
            ? [{ apiKey: [] }, { vapiSecret: [] }]
            : operation.path.startsWith('/integrations')
              ? [{ apiKey: [] }]
              : operation.path === '/metrics'
                ? [{ metricsToken: [] }, {}]
                : []
      expect<unknown>([operation.path, operation.security]).toEqual([operation.path, scheme])
    }
    expect(Object.keys(document.components?.securitySchemes ?? {})).toEqual([
      'apiKey',
      'ingestKey',
      'metricsToken',
      'vapiSecret',
    ])
  })

  test('tells every status that an operation can answer with', () => {
    for (const { method, path, responses } of operations) {
      const expected = expectedStatuses[`${method} ${path}`]?.split(' ').sort()
      expect<unknown>([method, path, Object.keys(responses).sort()]).toEqual([method, path, expected])
    }
  })

  test('offers only JSON where only JSON is served, and problem+json for every error but those of protocols', () => {
    for (const operation of operations) {
      const takesBody = ['POST', 'PUT', 'PATCH'].includes(operation.method)
      const type = operation.operationId === 'ingestCalls' ? 'application/x-ndjson' : 'application/json'
      const bodies: Record<string, string> = {
        createKnowledgeFromFile: 'multipart/form-data',
        uploadRecording: 'audio/*',
      }
      const sent = bodies[operation.operationId ?? ''] ?? type
      expect(Object.keys(requestContentOf(operation))).toEqual(takesBody ? [sent] : [])
      for (const status of Object.keys(operation.responses)) {
        // None has a body.
        if (['204', '304', '431'].includes(status)) continue
        const types = Object.keys(contentOf(operation, status))
        // A file of any framework.
        if (operation.operationId === 'exportCases' && status === '200') continue
        const isSound = operation.operationId === 'getRecording' || operation.operationId === 'playLink'
        const success = isSound ? 'audio/*' : operation.path === '/metrics' ? 'text/plain' : type
        const failure = /^\/(integrations|ingest\/otlp)\//.test(operation.path)
          ? success
          : 'application/problem+json'
        expect([operation.path, status, types]).toEqual([
          operation.path,
          status,
          status < '300' ? [success, ...(streams.get(operation.path) ?? [])] : [failure],
        ])
      }
    }
  })

  test('gives an example of each body and parameter, valid by its schema', () => {
    for (const operation of operations) {
      const answers = Object.keys(operation.responses).map((status) => contentOf(operation, status))
      const contents = [requestContentOf(operation), ...answers].flatMap((content) => Object.values(content))
      for (const { schema = {}, example } of contents) {
        const validate = ajv.compile(schema)
        expect([operation.operationId, validate(example), validate.errors]).toEqual([
          operation.operationId,
          true,
          null,
        ])
      }
      for (const parameter of operation.parameters ?? []) {
        expect(parameter.description).toBeString()
        expect(ajv.validate(parameter.schema ?? {}, parameter.example)).toBe(true)
      }
    }
  })

  test('tells how large each body may be', async () => {
    for (const { path, requestBody } of operations) {
      if (!requestBody) continue
      if (path.endsWith('/recording')) continue
      // The configured limit is the smallest here.
      expect([path, requestBody.description]).toEqual([path, expect.stringMatching(/At most 5000 bytes\.$/)])
    }
    const usual = await startService()
    const { paths } = await (await fetch(`${usual.url}/docs/json`)).json()
    await usual.stop()
    expect(paths['/ingest/calls/{id}/recording'].put.requestBody.description).toBe('At most 268435456 bytes.')
    const told = ['/v1/knowledge/search', '/v1/erasures', '/integrations/tool', '/v1/knowledge'].map(
      (path) => paths[path].post.requestBody.description,
    )
    expect(told).toEqual([65_536, 262_144, 1_048_576, 33_554_432].map((bytes) => `At most ${bytes} bytes.`))
  })

  test('writes each schema out once, under the name of what it is', () => {
    const { schemas = {}, responses = {}, headers = {} } = document.components ?? {}
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        'Call',
        'Turn',
        'CallUpdate',
        'CallPage',
        'KnowledgeItem',
        'SearchHit',
        'Deleted',
        'Erasure',
        'Problem',
      ]),
    )
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['NotFound', 'MethodNotAllowed']))
    expect(Object.keys(headers)).toEqual(
      expect.arrayContaining(['X-Request-Id', 'WWW-Authenticate', 'RateLimit', 'RateLimit-Policy']),
    )
    for (const [path, item] of Object.entries(document.paths ?? {}))
      expect([path, JSON.stringify(item).includes('"properties"')]).toEqual([path, false])
    expect(JSON.stringify(schemas)).not.toMatch(/"(nullable|x-message|x-documented)"/)
  })

  test('has no name or schema that generators of typed languages stumble over', () => {
    const { securitySchemes: _, ...kinds } = document.components ?? {}
    const names = Object.values(kinds).flatMap((kind) => Object.keys(kind))
    // Each becomes a type, and in Go each struct `X` has a constructor `NewX`.
    const inGo = names.flatMap((name) => [name, `New${name}`])
    expect(inGo.filter((name, at) => inGo.indexOf(name) !== at)).toEqual([])
    const faultsIn = (part: unknown, path: string): string[] => {
      if (typeof part !== 'object' || part === null) return []
      const { $ref, description, default: fallback, ...siblings } = part as Record<string, unknown>
      const isFault =
        ($ref !== undefined && Object.keys(siblings).length > 0) ||
        (/parameters\/\w+\/schema$/.test(path) && $ref !== undefined && description !== undefined) ||
        (siblings.type === 'integer' && siblings.format !== 'int64') ||
        (siblings.type === 'number' && siblings.format !== 'double') ||
        (Array.isArray(siblings.required) && siblings.properties === undefined) ||
        Object.values(Object(siblings.properties)).some((property) => typeof property === 'boolean')
      const within = Object.entries(part).flatMap(([name, member]) => faultsIn(member, `${path}/${name}`))
      return isFault ? [path, ...within] : within
    }
    expect(faultsIn([document.paths, document.components], '')).toEqual([])
  })

  test('says the bounds of each whole number in a request, which would otherwise be those of 64 bits', () => {
    const unboundedIn = (part: unknown, path: string): string[] => {
      if (typeof part !== 'object' || part === null) return []
      const { type, minimum, maximum } = part as Record<string, unknown>
      const within = Object.entries(part).flatMap(([name, member]) => unboundedIn(member, `${path}/${name}`))
      return [type].flat().includes('integer') && (minimum === undefined || maximum === undefined)
        ? [path, ...within]
        : within
    }
    const bodies = operations.map(({ operationId, requestBody }) => [operationId, requestBody])
    expect(unboundedIn(Object.fromEntries(bodies), '')).toEqual([])
  })

  test('says which fields exclude each other, what an id looks like, and which values are whole or times', () => {
    const schemas = resolved(document, document).components?.schemas ?? {}
    const isValid = (name: string, value: unknown) => ajv.validate(schemas[name] ?? {}, value)
    const turns = [{ role: 'user', content: 'hi' }]
    expect(isValid('CallUpdate', { transcript: turns })).toBe(true)
    expect(isValid('CallUpdate', { transcript: turns, appendTranscript: { at: 0, turns } })).toBe(false)
    for (const time of ['2026-02-29T09:30:00Z', '1969-12-31T23:59:59Z', '2026-01-31T24:00:00Z', '2026-01-31'])
      expect([time, isValid('CallUpdate', { createdAt: time })]).toEqual([time, false])
    expect(isValid('CallUpdate', { createdAt: '2028-02-29T09:30:00+02:00' })).toBe(true)
    expect(isValid('CallUpdate', { metadata: {}, details: { agent: null } })).toBe(true)
    expect(isValid('CallUpdate', { metadata: {}, details: { metadata: null } })).toBe(false)
    // Generators of requests turn it round, which they cannot do with rules for further members.
    expect(JSON.stringify(document.components?.schemas?.CallUpdate?.not)).not.toContain('unevaluated')
    // Members that can be anything are JSON without U+0000, too.
    const message = { type: 'knowledge-base-request', messages: [] }
    expect([
      isValid('VapiKnowledgeMessage', { ...message, call: 'a' }),
      isValid('VapiKnowledgeMessage', { ...message, call: '\0' }),
    ]).toEqual([true, false])
    const asked = { type: 'knowledge-base-request', messages: [] }
    expect([
      isValid('VapiKnowledgeMessage', asked),
      isValid('VapiKnowledgeMessage', { ...asked, call: '\0' }),
    ]).toEqual([true, false])
    const used = { type: 'tool-calls', toolCalls: [] }
    expect([isValid('VapiToolMessage', used), isValid('VapiToolMessage', { ...used, call: '\0' })]).toEqual([
      true,
      false,
    ])
    expect([isValid('CallId', 'a:b'), isValid('CallId', '..'), isValid('CallId', 'a b')]).toEqual([
      true,
      false,
      false,
    ])
    const limit = operations.find(({ path }) => path === '/v1/calls')?.parameters?.[0]
    expect(limit?.schema).toMatchObject({ type: 'integer', minimum: 0 })
    expect(schemas.Call?.properties?.createdAt).toMatchObject({ type: 'string', format: 'date-time' })
  })

  test('says of names what is certain: what its pattern allows is a name', () => {
    const plain = new RegExp(plainNamePattern, 'u')
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const text = `a${String.fromCodePoint(code)}`
      if (plain.test(text) && nameProblem(text) !== null) expect(code).toBe(-1)
    }
    // Without `u`, as languages whose characters are UTF-16 units read it.
    for (const pattern of [plain, new RegExp(plainNamePattern)]) {
      const fits = ['Müller & Söhne 😀', ' ', 'a\u200bb'].map((name) => pattern.test(name))
      expect(fits).toEqual([true, false, false])
    }
  })

  test('is also at /openapi.json', async () => {
    expect(await (await fetch(`${service.url}/openapi.json`)).json()).toEqual(document)
  })

  test('is named in /llms.txt, whose links all lead somewhere', async () => {
    const text = await (await fetch(`${service.url}/llms.txt`)).text()
    const links = [...text.matchAll(/\]\((.*?)\)/g)].map(([, link]) => link)
    expect(links).toEqual(expect.arrayContaining(['/openapi.json', '/docs/errors', '/docs/guide/agents']))
    for (const link of links) expect([link, (await fetch(service.url + link)).status]).toEqual([link, 200])
  })

  test('knows each path parameter', () => {
    for (const { path, parameters = [] } of operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      expect(inPath.map(({ name, required }) => [name, required])).toEqual(
        path.includes('{id}') ? [['id', true]] : [],
      )
    }
  })

  test('holds nothing of the inside: no file, no address of this machine', () => {
    const text = JSON.stringify(document)
    expect(text).not.toContain(service.dataDir)
    expect(text).not.toMatch(/127\.0\.0\.1|localhost|project_id/)
    expect(document.servers).toEqual([{ url: '/', description: 'This service' }])
  })
})

describe('real answers', () => {
  /** What the document says of an answer, checked: its status, its type, its schema and its exact fields. */
  async function check(operationId: string, answer: Response): Promise<void> {
    const operation = operations.find((each) => each.operationId === operationId)
    if (!operation) throw new Error(`There is no operation ${operationId}`)
    const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
    const schema = contentOf(operation, String(answer.status))[type]?.schema
    if (!schema) throw new Error(`${operationId} does not document ${answer.status} ${type}`)
    const value = type.startsWith('text/') ? await answer.text() : await answer.json()
    const validate = ajv.compile(schema)
    expect([operationId, validate(value), validate.errors]).toEqual([operationId, true, null])
    if ('properties' in schema && answer.ok) {
      const isThere = (name: string) => schema.required?.includes(name) || name in value
      expect(Object.keys(value)).toEqual(Object.keys(schema.properties ?? {}).filter(isThere))
    }
    const headers = operation.responses[answer.status]?.headers ?? {}
    for (const [name, header] of Object.entries(headers))
      if ('required' in header && header.required) expect(answer.headers.get(name)).toBeString()
  }

  test('are as documented, in success', async () => {
    const full = {
      status: 'completed',
      duration: 91.25,
      summary: 's',
      evaluation: 'success',
      endedReason: 'r',
      callerNumber: '+1',
      calledNumber: '+2',
      isEngaged: true,
      callAnalysis: { score: 1.5, deep: { list: [null, true] } },
      transcript: [{ role: 'user', content: 'c' }],
      details: {
        agent: { id: 'a' },
        direction: 'web',
        recordingUrl: 'https://example.com/a.mp3',
        costUsd: 0.1,
        latencyMs: 700,
        timeline: [
          { atSeconds: 1.5, kind: 'tool_call', name: 'look_up', text: '{}' },
          { atSeconds: 2, kind: 'turn', interrupted: true, agentId: 'a', latencyMs: { total: 1 } },
        ],
        metadata: { a: 1 },
      },
    }
    await check('ingestCall', await project.send('PUT', '/ingest/calls/full', full))
    await check('ingestCall', await project.send('PUT', '/ingest/calls/empty', {}))
    await check('ingestCall', await project.send('PUT', '/ingest/calls/empty', { isEngaged: true }))
    await check('listCalls', await project.fetch('/v1/calls'))
    await check('listCalls', await project.fetch('/v1/calls?limit=0'))
    await check('getCall', await project.fetch('/v1/calls/full'))
    await check('getCall', await project.fetch('/v1/calls/empty'))
    await check('getCallDetails', await project.fetch('/v1/calls/full/details'))
    await check('getCallDetails', await project.fetch('/v1/calls/empty/details'))
    await check('listChanges', await project.fetch('/v1/changes'))
    const created = await project.send('POST', '/v1/knowledge', { name: 'n', text: '# H\n\nwords' })
    const path = created.headers.get('location') ?? ''
    await check('createKnowledge', created)
    await check(
      'createKnowledgeFromFile',
      await project.fetch('/v1/knowledge/files', { method: 'POST', body: formOf('a.md', 'words') }),
    )
    await check('listKnowledge', await project.fetch('/v1/knowledge'))
    await check('getKnowledge', await project.fetch(path))
    await check('previewKnowledge', await project.send('POST', '/v1/knowledge/preview', { text: 'words' }))
    await check('searchKnowledge', await project.send('POST', '/v1/knowledge/search', { query: 'words' }))
    const turns = { type: 'knowledge-base-request', messages: [{ role: 'user', content: 'words' }] }
    const retrieval = { knowledge_id: project.id, query: 'words', retrieval_setting: { top_k: 1 } }
    await check(
      'answerVapiKnowledge',
      await project.send('POST', '/integrations/vapi/knowledge', { message: turns }),
    )
    await check(
      'answerVapiToolCalls',
      await project.send('POST', '/integrations/vapi/tool', { message: { toolCallList: [] } }),
    )
    await check('retrieveForDify', await project.send('POST', '/integrations/dify/retrieval', retrieval))
    await check('answerTool', await project.send('POST', '/integrations/tool', { query: 'words' }))
    await check('receiveEvent', await project.send('POST', `/ingest/from/${sourceId}`, {}))
    await check('deleteKnowledge', await project.fetch(path, { method: 'DELETE' }))
    await check('listChanges', await project.fetch('/v1/changes?include=none'))
    await check('deleteCall', await project.fetch('/v1/calls/full', { method: 'DELETE' }))
    await check('listChanges', await project.fetch('/v1/changes'))
    await check('getErasure', await project.fetch('/v1/erasures/full'))
    const rubric = {
      criteria: [{ id: 'greeted', name: 'Greeted', question: 'Did the agent greet?' }],
      evaluation: 'all',
    }
    await check('putRubric', await project.send('PUT', '/v1/rubric', rubric))
    await check('putRubric', await project.send('PUT', '/v1/rubric', rubric))
    await check('getRubric', await project.fetch('/v1/rubric'))
    const ended = { status: 'completed', transcript: [{ role: 'user', content: 'c' }] }
    await project.send('PUT', '/ingest/calls/ended', ended)
    const answered = [...ended.transcript, { role: 'assistant', content: 'a' }]
    await project.send('PUT', '/ingest/calls/answered', { status: 'completed', transcript: answered })
    const ofCase = { call: 'answered', turn: 1, expect: 'e' }
    const madeCase = await project.send('POST', '/v1/cases', ofCase)
    const { id: caseId } = await madeCase.clone().json()
    await check('createCase', madeCase)
    await check('createCase', await project.send('POST', '/v1/cases', ofCase))
    await check('listCases', await project.fetch('/v1/cases'))
    await check('getCase', await project.fetch(`/v1/cases/${caseId}`))
    await check('exportCases', await project.fetch('/v1/cases/export?format=livekit'))
    await check('deleteCase', await project.fetch(`/v1/cases/${caseId}`, { method: 'DELETE' }))
    await check('tryRubric', await project.send('POST', '/v1/rubric/trial', { call: 'ended' }))
    await check('getCallAnalysis', await project.fetch('/v1/calls/ended/analysis'))
    await check('getAgreement', await project.fetch('/v1/rubric/agreement'))
    await check('startAnalyses', await project.send('POST', '/v1/analyses', { dryRun: true }))
    const run = await project.send('POST', '/v1/analyses', {})
    const { id: runId } = await run.clone().json()
    await check('startAnalyses', run)
    await check('getAnalyses', await project.fetch(`/v1/analyses/${runId}`))
    await check('stopAnalyses', await project.fetch(`/v1/analyses/${runId}`, { method: 'DELETE' }))
    const rule = { name: 'Rule', windowMinutes: 5, below: { warn: 2, alert: 1 }, showOnly: true }
    const alert = await project.send('POST', '/v1/alerts', rule)
    const { id: made } = await alert.clone().json()
    await check('createAlert', alert)
    await check('listAlerts', await project.fetch('/v1/alerts'))
    await check('putAlert', await project.send('PUT', `/v1/alerts/${made}`, { ...rule, of: 'success' }))
    await check('getAlert', await project.fetch(`/v1/alerts/${made}`))
    await check('deleteAlert', await project.fetch(`/v1/alerts/${made}`, { method: 'DELETE' }))
    const asked = { number: '+15557294053' }
    await check('requestErasure', await project.send('POST', '/v1/erasures', { ...asked, dryRun: true }))
    const accepted = await project.send('POST', '/v1/erasures', asked)
    const { id } = await accepted.clone().json()
    await check('requestErasure', accepted)
    await check('getErasure', await project.fetch(`/v1/erasures/${id}`))
    await check('getHealth', await fetch(`${service.url}/health`))
    await check('getReadiness', await fetch(`${service.url}/ready`))
    const token = { headers: { authorization: 'Bearer token' } }
    await check('getMetrics', await fetch(`${service.url}/metrics`, token))
  })

  // What any request can be answered with: see tests/properties/fuzz.test.ts.
  test('are as documented, in failure', async () => {
    await project.send('PUT', '/ingest/calls/gone', {})
    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    await check('ingestCall', await project.send('PUT', '/ingest/calls/gone', {}))
    const gap = { appendTranscript: { at: 5, turns: [] } }
    await check('ingestCall', await project.send('PUT', '/ingest/calls/gap', gap))
    for (const text of ['one', 'two']) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
      const body = JSON.stringify({ name: 'n', text })
      await check('createKnowledge', await project.fetch('/v1/knowledge', { method: 'POST', headers, body }))
    }
    for (const name of ['a.pdf', 'a.png']) {
      const body = formOf(name, 'words')
      await check(
        'createKnowledgeFromFile',
        await project.fetch('/v1/knowledge/files', { method: 'POST', body }),
      )
    }
    const from = `/ingest/from/${sourceId}`
    await check('receiveEvent', await project.send('POST', from, { text: 'x'.repeat(6_000) }))
    await check('receiveEvent', await project.send('POST', '/ingest/from/nobody', {}))
    await check('receiveEvent', await fetch(service.url + from, { method: 'POST', body: '{}' }))
    const elsewhere = { knowledge_id: 'nowhere', query: 'q', retrieval_setting: {} }
    await check('retrieveForDify', await project.send('POST', '/integrations/dify/retrieval', elsewhere))
    await check('getMetrics', await fetch(`${service.url}/metrics`))
    await check('listCalls', await project.fetch('/v1/calls?limit=x'))
    await check('getRubric', await project.fetch('/v1/rubric?version=99'))
  })

  /** Sends bodies as each operation that takes one describes them. */
  async function sendEach(send: (operation: Operation, send: Send, content: Content) => Promise<unknown>) {
    for (const operation of operations) {
      const content = requestContentOf(operation)
      if (Object.keys(content).length === 0) continue
      const [type = ''] = Object.keys(content)
      // Bytes, which no schema describes.
      if (type === 'audio/*') continue
      if (type === 'multipart/form-data') {
        const { file } = Object(content[type]?.example)
        const sendFile = () =>
          project.fetch(operation.path, { method: operation.method, body: formOf('example.md', file) })
        await send(operation, sendFile, content)
        continue
      }
      const known = [
        ['/ingest/from', sourceId],
        ['/v1/alerts/', alertId],
        ['/v1/sources/', changedSourceId],
        ['/v1/webhooks/{id}/replay', replayedWebhookId],
        ['/v1/webhooks/', webhookId],
      ].find(([start = '']) => operation.path.startsWith(start))
      const sendBody: Send = (id, body) =>
        project.fetch(operation.path.replace('{id}', known?.[1] ?? id), {
          method: operation.method,
          body: type === 'application/json' ? JSON.stringify(body) : String(body),
          headers: {
            'content-type': type,
            ...(operation.path.startsWith('/integrations') ? { authorization: `Bearer ${defaultKey}` } : {}),
          },
        })
      await send(operation, sendBody, content)
    }
  }
  type Send = (id: string, body: unknown) => Promise<Response>

  test.skipIf(ofFilesOnly)('are as documented of a sound, too', async () => {
    await project.send('PUT', '/ingest/calls/heard', { status: 'completed' })
    const [call] = spokenCalls(4, 1, 2)
    for (const channels of [call?.channels ?? [], call?.channels.slice(0, 1) ?? []]) {
      const body = new Uint8Array(toWav(channels))
      await project.fetch('/ingest/calls/heard/recording', { method: 'PUT', body })
      const sound = () => project.fetch('/v1/calls/heard/sound')
      await until(async () => (await (await sound()).json()).state.endsWith('measured'))
      await check('getSound', await sound())
      await check('getCallDetails', await project.fetch('/v1/calls/heard/details'))
    }
  })

  // Recordings of a database on a server need a bucket.
  test.skipIf(ofFilesOnly)('every example of a request body is accepted as it stands', async () => {
    const recording = { method: 'PUT', body: madeWav() }
    expect((await project.fetch('/ingest/calls/example/recording', recording)).status).toBe(201)
    const transcript = [
      { role: 'user', content: 'c' },
      { role: 'assistant', content: 'a' },
    ]
    await project.send('PUT', '/ingest/calls/call-1042', { status: 'completed', transcript })
    await sendEach(async ({ operationId }, send, content) => {
      const answer = await send('example', Object.values(content)[0]?.example)
      expect([operationId, answer.status < 300]).toEqual([operationId, true])
    })
  })

  test('what the schema of a request body allows is accepted', async () => {
    let calls = 0
    await sendEach(async ({ operationId }, send, content) => {
      const schema = Object.values(content)[0]?.schema ?? {}
      await fc.assert(
        fc.asyncProperty(valuesOf(schema as OpenAPIV3_1.SchemaObject), async (body) => {
          const answer = await send(`random-${calls++}`, body)
          // Of what is valid by itself, turns may not continue a call, and ids may be nobody's.
          const text = await answer.text()
          const isUnfit =
            (/rubric|analyses|alert|source|webhook|golden|review|import|case/i.test(operationId ?? '') &&
              asWhole.test(text)) ||
            text.includes('has the kind, provider and model of another')
          const isAccepted = answer.status < 300 || answer.status === 409 || answer.status === 404 || isUnfit
          expect([operationId, isAccepted, isAccepted ? '' : text]).toEqual([operationId, true, ''])
        }),
        runs(12),
      )
    })
  })
})
