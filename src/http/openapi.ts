import { swagger } from '@elysiajs/swagger'
import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'
import { type ErrorCode, errorStatus } from '../errors.ts'
import { completeDocument } from './document.ts'
import { type ErrorStatus, errorStatuses } from './error-statuses.ts'
import { jsonHeaders } from './json-headers.ts'

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
const FieldFault = Type.Object(
  { field: Type.String({ example: 'name' }), message: Type.String({ example: 'is required' }) },
  { title: 'FieldError' },
)

/** The body of every error: RFC 9457 problem details. */
const Problem = Type.Object(
  {
    type: Type.String({ example: '/docs/errors#invalid_api_key' }),
    title: Type.String({ example: 'Invalid API key' }),
    status: Type.Integer({ example: 401 }),
    detail: Type.String({ example: 'The key is not known, or it has been revoked.' }),
    code: Type.String({ description: 'One of those at /docs/errors.', example: 'invalid_api_key' }),
    requestId: Type.String({ example: requestId }),
    errors: Type.Optional(Type.Array(FieldFault, { description: 'Only on 400.' })),
  },
  { title: 'Problem' },
)

/** The documented answers of a route that needs a key: its successes, and every error it can give. */
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

const Deleted = Type.Object(
  {
    id: Type.String({ example: 'call-1042' }),
    deleted: Type.Boolean({ description: 'Always true.', example: true }),
  },
  { title: 'Deleted' },
)

/** That of a route whose answers have tags. */
export const notModified = { 304: { $ref: '#/components/responses/NotModified' } }

/** What every DELETE answers. */
export function deletedAnswer(description: string): Answer {
  return jsonAnswer(description, Deleted)
}

export function headerOf(description: string, example: string, required = true): OpenAPIV3.HeaderObject {
  return { description, required, schema: { type: 'string' }, example }
}

/** A parameter in the path, for documentation only: its feature validates it. */
export function pathParameter(
  name: string,
  description: string,
  example: string,
  schema: TSchema = Type.String(),
): OpenAPIV3.ParameterObject {
  return { name, in: 'path', required: true, description, schema: asOpenApi(schema), example }
}

/**
 * Of a list: the fields of each record. The document tells it in the text alone, since the answer then is not what its
 * schema says, and a generated client could not read it.
 */
export const fieldsParameter = {
  ...queryParameter('fields', '', { type: 'string' }, 'id'),
  'x-documented': false,
}

/** A parameter in the query, for documentation only. */
export function queryParameter(
  name: string,
  description: string,
  schema: OpenAPIV3.SchemaObject,
  example: unknown,
): OpenAPIV3.ParameterObject {
  return { name, in: 'query', required: false, description, schema, example }
}

/** A header of a request, for documentation only. */
export function headerParameter(
  name: string,
  description: string,
  example: string,
): OpenAPIV3.ParameterObject {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example }
}

/** Markdown, above the operations. */
const introduction = `The system of record for voice agents: every call they handled, and everything they know.

**Authentication.** Send a key as \`Authorization: Bearer <key>\`. An API key (\`ck_live_…\`) reads and deletes calls, \
writes and searches knowledge, and serves agents; its scope may narrow this to reading (\`read\`) or searching \
(\`search\`). An ingest key (\`ck_ingest_…\`) writes calls and opens nothing else. \
Both are made in the console under Settings, API Keys, or by \`bun callbook key create\`.

**Errors** are [problem details](/docs/errors): \`code\` for programs, \`detail\` for people, \`requestId\` for the log. \
Every answer has its \`X-Request-Id\`. On 429 and 503, \`Retry-After\` says when to try again; every request but an \
unkeyed \`POST /v1/knowledge\` may be sent twice without harm.

**Names that are not known**, of fields and of query parameters, are ignored and named in \`Callbook-Ignored\`. With \
\`Prefer: handling=strict\` they are 400, each with the nearest known name.

**Agents** that speak the Model Context Protocol connect to \`/mcp\` with an API key. The [guide](/docs/guide) says how to \
set up these and others, and how to run the service.`

const tags = [
  { name: 'Calls', description: 'Records of the calls that agents handled: write, find and delete them.' },
  { name: 'Knowledge', description: 'Texts that agents retrieve from.' },
  { name: 'Changes', description: 'What has changed, to follow, and receipts of what was deleted.' },
  { name: 'Webhooks', description: 'Events that are sent to endpoints of yours.' },
  { name: 'Integrations', description: 'Protocols that agent platforms speak already; MCP is at `/mcp`.' },
  { name: 'Ingest', description: 'How platforms bring calls in.' },
  { name: 'Service', description: 'Health, metrics, and the key that a request carries.' },
]

/** Shows every operation, and switches off what would call the viewer's makers. Their types lag behind. */
const viewerSettings: object = {
  // The plugin reads the address from here. The viewer takes it from another attribute and calls this one deprecated.
  spec: { url: '/docs/json', toJSON: () => undefined },
  defaultOpenAllTags: true,
  authentication: { preferredSecurityScheme: 'apiKey' },
  withDefaultFonts: false,
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
  /** What the service sends, by name: the plugin's document knows nothing of it. */
  webhooks: Record<string, object>
}

/** The OpenAPI document at /docs/json and /openapi.json, and the page at /docs that shows it with a script we serve. */
export function openApi({ version, scriptPath, securitySchemes, webhooks }: OpenApiOptions) {
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
            description: 'The client has the answer already: it sent its `ETag` as `If-None-Match`.',
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
  // The plugin calls the page's charset `utf8`, which is not its name.
  for (const { handler } of plugin.routes) {
    if (handler instanceof Response) handler.headers.set('Content-Type', 'text/html; charset=utf-8')
  }
  let document: string | undefined
  const read = (made: object) => {
    document ??= JSON.stringify(completeDocument({ ...made, webhooks }))
    return new Response(document, { headers: jsonHeaders })
  }
  const make = plugin.routes.find(({ path }) => path === '/docs/json')?.handler as (() => object) | undefined
  return new Elysia()
    .onAfterHandle(({ responseValue }) =>
      'openapi' in Object(responseValue) ? read(Object(responseValue)) : undefined,
    )
    .use(plugin)
    .get('/openapi.json', () => Object(make?.()), { detail: { hide: true } })
}

const commonHeaders: Record<string, OpenAPIV3.HeaderObject> = {
  'X-Request-Id': headerOf(
    "The request's own `X-Request-Id` when it is 1 to 128 characters of A-Za-z0-9._-, else a new one.",
    requestId,
  ),
  'WWW-Authenticate': headerOf(
    '`Bearer`, with `error="invalid_token"` when a token was sent.',
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
    'Names of fields and query parameters that are not known, at most 20. With `Prefer: handling=strict` they are 400.',
    'caller_number, page',
    false,
  ),
  ETag: headerOf(
    'Of the record or the list, another one when it is compressed. Sent as `If-None-Match`, it asks for changes only. ' +
      'A list found by `text` has none.',
    '"1c0a5b8e2f94-17"',
    false,
  ),
  'Access-Control-Allow-Origin': headerOf(
    'The origin of the page that asks. Only where the key allows this origin, which a key of the scope `full` cannot.',
    'https://app.example.com',
    false,
  ),
  Allow: headerOf('The methods that the path takes.', 'GET, HEAD, POST'),
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
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
    ...['X-Request-Id', 'RateLimit', 'RateLimit-Policy', 'Callbook-Ignored'],
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

/** Our schemas are written in OpenAPI 3.0's dialect of JSON Schema, which TypeBox's types do not know. */
export function asOpenApi(schema: TSchema): OpenAPIV3.SchemaObject {
  return schema as OpenAPIV3.SchemaObject
}
