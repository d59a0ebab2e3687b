import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import { type ErrorCode, errorStatus } from '../errors.ts'
import { readFaceStyles } from '../face/face.ts'
import { named } from '../validation.ts'
import { completeDocument } from './document.ts'
import { type ErrorStatus, errorStatuses } from './error-statuses.ts'
import { jsonHeaders } from './json-headers.ts'
import type { BodyLimit } from './surface.ts'

type Answer = OpenAPIV3.ResponseObject
type Answers = Record<string, Answer | OpenAPIV3.ReferenceObject>

/** The errors that any route under a key can answer with. */
const keyedErrors: ErrorCode[] = [
  'invalid_request',
  'invalid_api_key',
  'ip_address_not_allowed',
  'insufficient_scope',
  'rate_limited',
  'internal',
  'unavailable',
]

const requestId = '6f1c1de2-2f5c-4f0e-9d5e-0a6a5c1c1f7e'
const FieldFault = named('FieldError', {
  field: Type.String({ example: 'name' }),
  message: Type.String({ example: 'is required' }),
})

/** The body of every error: RFC 9457 problem details. */
const Problem = named('Problem', {
  type: Type.String({ example: '/docs/errors#invalid_api_key' }),
  title: Type.String({ example: 'Invalid API key' }),
  status: Type.Integer({ example: 401 }),
  detail: Type.String({ example: 'The key is unknown or has been revoked.' }),
  code: Type.String({ description: 'One of those at /docs/errors.', example: 'invalid_api_key' }),
  requestId: Type.String({ example: requestId }),
  errors: Type.Optional(Type.Array(FieldFault, { description: 'Only on 400.' })),
})

/** The documented answers of a route that needs a key: its successes and its errors. */
export function keyedAnswers(success: Answers, errors: ErrorCode[]): Answers {
  return { ...success, ...problemAnswers([...keyedErrors, ...errors]) }
}

/** The same for a protocol with an error format of its own. */
export function protocolAnswers(success: Answers, errors: ErrorCode[], errorBody: TSchema): Answers {
  const toAnswer = (status: number) => {
    const description =
      status === 400 ? 'The request is not valid.' : (errorStatuses[status]?.description ?? '')
    return { ...jsonAnswer(description, errorBody), headers: headersOfError(status) }
  }
  return { ...success, ...errorAnswers([...keyedErrors, ...errors], toAnswer) }
}

export function problemAnswers(errors: ErrorCode[]): Answers {
  return errorAnswers(errors, (status) => ({
    $ref: `#/components/responses/${errorStatuses[status]?.name}`,
  }))
}

function errorAnswers(errors: ErrorCode[], toAnswer: (status: number) => Answers[string]): Answers {
  const statuses = [...new Set(errors.map((code) => errorStatus[code]))].sort()
  return Object.fromEntries(statuses.map((status) => [status, toAnswer(status)]))
}

/** A JSON answer of this schema. */
export function jsonAnswer(description: string, schema: TSchema, more: Partial<Answer> = {}): Answer {
  return { description, content: { 'application/json': { schema: asOpenApi(schema) } }, ...more }
}

const Deleted = named('Deleted', {
  id: Type.String({ example: 'call-1042' }),
  deleted: Type.Boolean({ description: 'Always true.', example: true }),
})

/** The answer 304, for routes with tags. */
export const notModified = { 304: { $ref: '#/components/responses/NotModified' } }

/** The answer to a DELETE. */
export function deletedAnswer(description: string): Answer {
  return jsonAnswer(description, Deleted)
}

export function headerOf(description: string, example: string, required = true): OpenAPIV3.HeaderObject {
  return { description, required, schema: { type: 'string' }, example }
}

/** A path parameter, for the document only; its feature validates it. */
export function pathParameter(
  name: string,
  description: string,
  example: string,
  schema: TSchema = Type.String(),
): OpenAPIV3.ParameterObject {
  return { name, in: 'path', required: true, description, schema: asOpenApi(schema), example }
}

/** The fields of each record of a list. */
export function fieldsParameter(fields: readonly string[]): OpenAPIV3.ParameterObject {
  const about =
    'Only these fields of each record, and its `id`. The others are then missing, although the schema requires them.'
  return listParameter('fields', about, { type: 'string', enum: [...fields] }, 'id')
}

/** A query parameter with several values, each as a parameter of its own. */
export function listParameter(
  name: string,
  description: string,
  items: OpenAPIV3.SchemaObject,
  example: unknown,
): OpenAPIV3.ParameterObject {
  const schema: OpenAPIV3.SchemaObject = { type: 'array', minItems: 1, maxItems: 50, items }
  return { ...queryParameter(name, description, schema, [example]), style: 'form', explode: true }
}

/** A query parameter, for the document only. */
export function queryParameter(
  name: string,
  description: string,
  schema: OpenAPIV3.SchemaObject,
  example: unknown,
): OpenAPIV3.ParameterObject {
  return { name, in: 'query', required: false, description, schema, example }
}

/** A request header, for the document only. */
export function headerParameter(
  name: string,
  description: string,
  example: string,
  more: Partial<OpenAPIV3.ParameterObject> = {},
): OpenAPIV3.ParameterObject {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example, ...more }
}

/** Markdown, above the operations. */
const introduction = `The system of record for voice agents: every call they handled, and everything they know.

**Authentication.** Send a key as \`Authorization: Bearer <key>\`. An API key (\`ck_live_…\`) reads and deletes calls, \
writes and searches knowledge, and serves agents; its scope can narrow this to reading (\`read\`), knowledge (\`knowledge\`) or \
searching (\`search\`), or add sources and webhooks (\`manage\`). An ingest key (\`ck_ingest_…\`) \
writes calls and opens nothing else. Create both in the console under Settings, API Keys, or with \`bun callbook \
key create\`.

**Errors** are [problem details](/docs/errors): \`code\` for programs, \`detail\` for people, \`requestId\` for the log. \
Every answer but a 431 has an \`X-Request-Id\`. On 429 and 503, \`Retry-After\` says when to try again. Every request can \
safely be sent again, except one that creates a knowledge item without an \`Idempotency-Key\`.

**Unknown names** of fields and query parameters are ignored and listed in \`Callbook-Ignored\`. With \`Prefer: \
handling=strict\` they are a 400, which suggests the nearest known name for each.

**Agents** that speak the Model Context Protocol connect to \`/mcp\` with an API key. The [guide](/docs/guide) says how to \
set up these and others, and how to run the service.`

const tags = [
  { name: 'Calls', description: 'Records of the calls that agents handled: write, find and delete them.' },
  { name: 'Analysis', description: 'What a model of your choice finds out about calls.' },
  { name: 'Cases', description: 'Tests that were made of calls, for agents that should do better.' },
  { name: 'Alerts', description: 'Rules that tell you when a figure of recent calls crosses a limit.' },
  { name: 'Sources', description: 'The platforms that send calls, for keys of the scope `manage`.' },
  { name: 'Knowledge', description: 'Texts that agents retrieve from.' },
  { name: 'Changes', description: 'Follow what changes, and see receipts for what was deleted.' },
  { name: 'Webhooks', description: 'Events sent to your endpoints, which keys of the scope `manage` name.' },
  { name: 'Integrations', description: 'Protocols that agent platforms already speak. MCP is at `/mcp`.' },
  { name: 'Recordings', description: 'What was said, to be heard.' },
  { name: 'Ingest', description: 'How platforms send calls.' },
  { name: 'Service', description: 'Health, metrics, and the key that a request carries.' },
]

/** Shows every operation, and disables requests to the viewer's makers. The package's types lag behind. */
const viewerSettings: object = {
  // The plugin reads the URL from here. The viewer takes it from another attribute and deprecates this one.
  spec: { url: '/docs/json', toJSON: () => undefined },
  defaultOpenAllTags: true,
  authentication: { preferredSecurityScheme: 'apiKey' },
  withDefaultFonts: false,
  customCss: readFaceStyles('viewer.css'),
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
}

interface OpenApiOptions {
  version: string
  scriptPath: string
  /** Further ways to send a key, by name. */
  securitySchemes: Record<string, OpenAPIV3.SecuritySchemeObject>
  /** The service's webhooks by name, which the plugin's document lacks. */
  webhooks: Record<string, object>
  /** Told for the body of each operation. */
  bodyLimit: BodyLimit
  /** The service's routes, read once it is complete. */
  routes: () => readonly object[]
}

/** The OpenAPI document at /docs/json and /openapi.json, and its viewer at /docs, with a script from this service. */
export function openApi(options: OpenApiOptions) {
  let making: ReturnType<typeof makeDocument> | undefined
  const make = () => {
    making ??= makeDocument(options)
    return making
  }
  const readDocument = async () => new Response((await make()).document, { headers: jsonHeaders })
  const readPage = async () =>
    new Response((await make()).page, { headers: { 'Content-Type': 'text/html; charset=utf-8' } })
  return new Elysia()
    .get('/docs', readPage, { detail: { hide: true } })
    .get('/docs/json', readDocument, { detail: { hide: true } })
    .get('/openapi.json', readDocument, { detail: { hide: true } })
}

/** At the first request for it: the plugin takes 4 MB, and 16 ms of a start. */
async function makeDocument({
  version,
  scriptPath,
  securitySchemes,
  webhooks,
  bodyLimit,
  routes,
}: OpenApiOptions) {
  const { swagger } = await import('@elysiajs/swagger')
  const plugin = swagger({
    path: '/docs',
    scalarCDN: scriptPath,
    scalarConfig: viewerSettings,
    exclude: [/^\/docs/, /^\/console/],
    documentation: {
      info: {
        title: 'Callbook',
        version,
        description: introduction,
        contact: { name: 'Whoever runs this service' },
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags,
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'An API key, `ck_live_…`.' },
          ingestKey: { type: 'http', scheme: 'bearer', description: 'An ingest key, `ck_ingest_…`.' },
          metricsToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'METRICS_TOKEN, when one is configured.',
          },
          ...securitySchemes,
        },
        responses: {
          NotModified: {
            description: 'The client already has this answer: it sent its `ETag` as `If-None-Match`.',
            headers: Object.fromEntries(['X-Request-Id', 'ETag'].map(toHeader)),
          },
          ...Object.fromEntries(
            Object.entries(errorStatuses).map(([status, error]) => [
              error.name,
              problemAnswer(Number(status), error),
            ]),
          ),
        },
        headers: commonHeaders,
      },
    },
  })
  // It documents the app that uses it, and no app may get routes once it serves.
  Object.assign(plugin, { getGlobalRoutes: routes })
  const handlerOf = (path: string) => plugin.routes.find((route) => route.path === path)?.handler
  const page = handlerOf('/docs')
  const generate = handlerOf('/docs/json') as (() => object) | undefined
  if (!(page instanceof Response) || !generate) throw new Error('The plugin of OpenAPI has other routes')
  return {
    page: await page.text(),
    document: JSON.stringify(completeDocument({ ...generate(), webhooks }, bodyLimit)),
  }
}

const commonHeaders: Record<string, OpenAPIV3.HeaderObject> = {
  'X-Request-Id': headerOf(
    "The request's own `X-Request-Id` if it is 1 to 128 characters of A-Za-z0-9._-, otherwise a new one.",
    requestId,
  ),
  'WWW-Authenticate': headerOf(
    '`Bearer`, with `error="invalid_token"` if a token was sent.',
    'Bearer error="invalid_token"',
  ),
  RateLimit: headerOf(
    'What is left of the limit, and the seconds until it grows. Only where RATE_LIMIT_PER_MINUTE is set.',
    '"default";r=59;t=1',
    false,
  ),
  'RateLimit-Policy': headerOf(
    'The limit, and the seconds it is for. Only where RATE_LIMIT_PER_MINUTE is set.',
    '"default";q=60;w=60',
    false,
  ),
  'Callbook-Ignored': headerOf(
    'Unknown names of fields and query parameters, at most 20. With `Prefer: handling=strict` they are a 400.',
    'caller_number, page',
    false,
  ),
  ETag: headerOf(
    'Of the record or the list; a compressed answer has another one. Send it as `If-None-Match` to get an ' +
      'answer only if something has changed. A list found by `text` has none.',
    '"1c0a5b8e2f94-17"',
    false,
  ),
  'Access-Control-Allow-Origin': headerOf(
    'The origin of the page that asks. Only where the key allows this origin, which a key of the scope `full` cannot.',
    'https://app.example.com',
    false,
  ),
  Allow: headerOf('The methods that the path accepts.', 'GET, HEAD, POST'),
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
}

const headersByStatus: Record<number, string[]> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

function headersOfError(status: number): NonNullable<Answer['headers']> {
  const names = [
    'X-Request-Id',
    'RateLimit',
    'RateLimit-Policy',
    'Callbook-Ignored',
    ...(headersByStatus[status] ?? []),
  ]
  return Object.fromEntries(names.map(toHeader))
}

function toHeader(name: string): [string, OpenAPIV3.ReferenceObject] {
  return [name, { $ref: `#/components/headers/${name}` }]
}

function problemAnswer(status: number, { description, code, title }: ErrorStatus): Answer {
  const example = { type: `/docs/errors#${code}`, title, status, detail: description, code, requestId }
  return {
    description,
    headers: headersOfError(status),
    content: { 'application/problem+json': { schema: asOpenApi(Problem), example } },
  }
}

/** TypeBox's types do not know OpenAPI 3.0's dialect, in which our schemas are written. */
export function asOpenApi(schema: TSchema): OpenAPIV3.SchemaObject {
  return schema as OpenAPIV3.SchemaObject
}
