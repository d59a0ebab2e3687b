import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ajv } from 'ajv'
import type { OpenAPIV3 } from 'openapi-types'
import { createServer } from '../../src/server.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

interface Operation extends OpenAPIV3.OperationObject {
  method: string
  path: string
}

const ajv = new Ajv({ strict: false, allErrors: true })
let service: TestService
let project: TestProject
let document: OpenAPIV3.Document
let operations: Operation[]

beforeAll(async () => {
  service = await startService({ env: { METRICS_TOKEN: 'token', BODY_MAX_BYTES: '5000' } })
  project = await service.mintProject()
  document = await (await fetch(`${service.url}/docs/json`)).json()
  operations = Object.entries(document.paths).flatMap(([path, item = {}]) =>
    Object.entries(item).map(([method, operation]) => ({
      ...(operation as OpenAPIV3.OperationObject),
      method: method.toUpperCase(),
      path,
    })),
  )
})
afterAll(() => service.stop())

/** What else the success of a path is served as. */
const streams = new Map([['/v1/changes', ['text/event-stream']]])
const keyed = '401 403 429 500 503'
const expectedStatuses: Record<string, string> = {
  'GET /health': '200 500',
  'GET /ready': '200 500 503',
  'GET /metrics': '200 403 500',
  'GET /v1/calls': `200 400 ${keyed}`,
  'GET /v1/calls/{id}': `200 404 ${keyed}`,
  'GET /v1/calls/{id}/details': `200 404 ${keyed}`,
  'DELETE /v1/calls/{id}': `200 404 507 ${keyed}`,
  'GET /v1/changes': `200 400 ${keyed}`,
  'GET /v1/knowledge': `200 ${keyed}`,
  'POST /v1/knowledge': `201 400 409 410 413 415 422 507 ${keyed}`,
  'GET /v1/knowledge/{id}': `200 404 ${keyed}`,
  'DELETE /v1/knowledge/{id}': `200 404 507 ${keyed}`,
  'POST /v1/knowledge/preview': `200 400 413 415 ${keyed}`,
  'POST /v1/knowledge/search': `200 400 413 415 ${keyed}`,
  'GET /v1/erasures/{id}': `200 404 ${keyed}`,
  'GET /v1/key': `200 ${keyed}`,
  'POST /integrations/vapi/knowledge': `200 400 413 415 ${keyed}`,
  'POST /integrations/vapi/tool': `200 400 413 415 ${keyed}`,
  'POST /integrations/dify/retrieval': `200 400 404 413 415 ${keyed}`,
  'POST /ingest/calls': `200 413 415 ${keyed}`,
  'PUT /ingest/calls/{id}': `200 201 400 409 410 413 415 507 ${keyed}`,
}

function contentOf(operation: Operation, status: string): Record<string, OpenAPIV3.MediaTypeObject> {
  return (operation.responses[status] as OpenAPIV3.ResponseObject).content ?? {}
}

function requestContentOf(operation: Operation): Record<string, OpenAPIV3.MediaTypeObject> {
  return (operation.requestBody as OpenAPIV3.RequestBodyObject | undefined)?.content ?? {}
}

/** Every schema in a JSON value of schemas, the outer ones first. */
function* schemasIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') yield value as Record<string, unknown>
  for (const child of Object.values(value)) yield* schemasIn(child)
}

describe('the OpenAPI document', () => {
  test("describes every route but pages and their icon, the console's own and protocols that describe themselves", () => {
    const routes = createServer(service.services, () => null)
      .routes.map(({ method, path }) => `${method} ${path.replace(':id', '{id}')}`)
      .filter((route) => !/^(GET \/($|docs|favicon)|[A-Z]+ \/console\b|POST \/mcp$)/.test(route))
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
        : operation.path.startsWith('/ingest')
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
      const takesBody = operation.method === 'POST' || operation.method === 'PUT'
      const type = operation.operationId === 'ingestCalls' ? 'application/x-ndjson' : 'application/json'
      expect(Object.keys(requestContentOf(operation))).toEqual(takesBody ? [type] : [])
      for (const status of Object.keys(operation.responses)) {
        const types = Object.keys(contentOf(operation, status))
        const success = operation.path === '/metrics' ? 'text/plain' : type
        const failure = operation.path.startsWith('/integrations') ? success : 'application/problem+json'
        expect([operation.path, status, types]).toEqual([
          operation.path,
          status,
          status < '300' ? [success, ...(streams.get(operation.path) ?? [])] : [failure],
        ])
      }
    }
  })

  test('gives examples, and each is valid by the schema it is an example of', () => {
    for (const operation of operations.filter(({ path }) => /^\/(v1|ingest|integrations)/.test(path))) {
      const success = Object.keys(operation.responses).filter((status) => status < '300')
      const shown = [requestContentOf(operation), ...success.map((status) => contentOf(operation, status))]
      for (const content of shown.filter((content) => Object.keys(content).length > 0)) {
        const examples = [...schemasIn(content)].filter((schema) => 'example' in schema)
        expect([operation.operationId, examples.length]).not.toEqual([operation.operationId, 0])
        for (const schema of examples) expect(ajv.validate(schema, schema.example)).toBe(true)
      }
      for (const parameter of (operation.parameters ?? []) as OpenAPIV3.ParameterObject[]) {
        expect(parameter.description).toBeString()
        expect(ajv.validate(parameter.schema ?? {}, parameter.example)).toBe(true)
      }
    }
  })

  test('knows each path parameter', () => {
    for (const { path, parameters = [] } of operations) {
      const inPath = (parameters as OpenAPIV3.ParameterObject[]).filter(
        (parameter) => parameter.in === 'path',
      )
      expect(inPath.map(({ name, required }) => [name, required])).toEqual(
        path.includes('{id}') ? [['id', true]] : [],
      )
    }
  })

  test('holds nothing of the inside: no file, no address of this machine', () => {
    const text = JSON.stringify(document)
    expect(text).not.toContain(service.dataDir)
    expect(text).not.toMatch(/127\.0\.0\.1|localhost|project_id|projectId/)
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
    const value = type === 'text/plain' ? await answer.text() : await answer.json()
    const validate = ajv.compile({ ...schema, components: document.components })
    expect([operationId, validate(value), validate.errors]).toEqual([operationId, true, null])
    if ('properties' in schema) expect(Object.keys(value)).toEqual(Object.keys(schema.properties ?? {}))
    const headers = (operation.responses[answer.status] as OpenAPIV3.ResponseObject).headers ?? {}
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
        timeline: [{ atSeconds: 1.5, kind: 'tool_call', name: 'look_up', text: '{}' }],
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
    await check('deleteKnowledge', await project.fetch(path, { method: 'DELETE' }))
    await check('listChanges', await project.fetch('/v1/changes?include=none'))
    await check('deleteCall', await project.fetch('/v1/calls/full', { method: 'DELETE' }))
    await check('listChanges', await project.fetch('/v1/changes'))
    await check('getErasure', await project.fetch('/v1/erasures/full'))
    await check('getHealth', await fetch(`${service.url}/health`))
    await check('getReadiness', await fetch(`${service.url}/ready`))
    const token = { headers: { authorization: 'Bearer token' } }
    await check('getMetrics', await fetch(`${service.url}/metrics`, token))
  })

  test('are as documented, in failure', async () => {
    const big = { name: 'n', text: 'x'.repeat(6_000), query: 'q' }
    await project.send('PUT', '/ingest/calls/gone', {})
    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    await check('listCalls', await project.fetch('/v1/calls?limit=x'))
    await check('listCalls', await fetch(`${service.url}/v1/calls`))
    await check('listChanges', await project.fetch('/v1/changes?wait=x'))
    await check('getCall', await project.fetch('/v1/calls/nobody'))
    await check('getCallDetails', await project.fetch('/v1/calls/nobody/details'))
    await check('deleteCall', await project.fetch('/v1/calls/nobody', { method: 'DELETE' }))
    await check('getErasure', await project.fetch('/v1/erasures/nothing'))
    await check('getKnowledge', await project.fetch('/v1/knowledge/nothing'))
    for (const text of ['one', 'two']) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
      const body = JSON.stringify({ name: 'n', text })
      await check('createKnowledge', await project.fetch('/v1/knowledge', { method: 'POST', headers, body }))
    }
    await check('deleteKnowledge', await project.fetch('/v1/knowledge/nothing', { method: 'DELETE' }))
    for (const [operationId, method, path] of [
      ['createKnowledge', 'POST', '/v1/knowledge'],
      ['previewKnowledge', 'POST', '/v1/knowledge/preview'],
      ['searchKnowledge', 'POST', '/v1/knowledge/search'],
      ['ingestCall', 'PUT', '/ingest/calls/some-id'],
      ['answerVapiKnowledge', 'POST', '/integrations/vapi/knowledge'],
      ['answerVapiToolCalls', 'POST', '/integrations/vapi/tool'],
      ['retrieveForDify', 'POST', '/integrations/dify/retrieval'],
    ] as const) {
      await check(operationId, await project.send(method, path, big))
      await check(operationId, await project.send(method, path, []))
      await check(operationId, await project.fetch(path, { method, body: '{}' }))
      await check(operationId, await project.fetch(path, { method, headers: { authorization: 'Bearer x' } }))
    }
    await check('ingestCall', await project.send('PUT', '/ingest/calls/gone', {}))
    const elsewhere = { knowledge_id: 'nowhere', query: 'q', retrieval_setting: {} }
    await check('retrieveForDify', await project.send('POST', '/integrations/dify/retrieval', elsewhere))
    const gap = { appendTranscript: { at: 5, turns: [] } }
    await check('ingestCall', await project.send('PUT', '/ingest/calls/gap', gap))
    await check('getMetrics', await fetch(`${service.url}/metrics`))
  })

  test('examples of request bodies are accepted', async () => {
    const named = await service.services.projects.create('default')
    const { key } = await service.services.keys.create(named.projectId, {
      name: 'default',
      kind: 'live',
      allowedIps: [],
      expiresAt: null,
    })
    for (const operation of operations) {
      const schema = requestContentOf(operation)['application/json']?.schema as
        | OpenAPIV3.SchemaObject
        | undefined
      if (!schema) continue
      const body = Object.fromEntries(
        Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
          'example' in property ? [[name, property.example]] : [],
        ),
      )
      const path = operation.path.replace('{id}', 'example')
      const answer = await project.fetch(path, {
        method: operation.method,
        body: JSON.stringify(body),
        headers: {
          'content-type': 'application/json',
          ...(path.startsWith('/integrations') ? { authorization: `Bearer ${key}` } : {}),
        },
      })
      expect([operation.operationId, answer.status < 300]).toEqual([operation.operationId, true])
    }
  })
})
