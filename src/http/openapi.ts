import { swagger } from '@elysiajs/swagger'
import { type TSchema, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'
import { type ErrorCode, errorStatus } from '../errors.ts'

type Answer = OpenAPIV3.ResponseObject
type Answers = Record<string, Answer>

/** The errors that any route under a key can answer with. */
const keyedErrors: ErrorCode[] = [
  'invalid_api_key',
  'ip_address_not_allowed',
  'insufficient_scope',
  'rate_limited',
  'internal',
  'unavailable',
]

const errorDescriptions: Record<number, string> = {
  400: 'The request is not valid; `errors` has one entry a field.',
  401: 'The API key is missing, malformed, unknown, revoked or expired.',
  403: "The address is not on the key's allow-list, the key's scope does not allow this, or the route is not for this caller.",
  404: 'There is no such record in this project.',
  409: 'Not as things stand: the turns do not continue the transcript, or a request with the same key is running.',
  410: 'The record was deleted and stays deleted.',
  413: 'The body or the text is too large.',
  415: 'The body is not application/json.',
  422: 'The Idempotency-Key was used with another body.',
  429: 'Too many requests for this key.',
  500: 'Something went wrong on our side.',
  503: 'Not possible now; try again after `Retry-After` seconds.',
  507: 'The disk is full.',
}

/** The body of every error: RFC 9457 problem details. */
const Problem = Type.Object({
  type: Type.String({ example: '/docs/errors#invalid_api_key' }),
  title: Type.String({ example: 'Invalid API key' }),
  status: Type.Integer({ example: 401 }),
  detail: Type.String({ example: 'The key is not known, or it has been revoked.' }),
  code: Type.Unsafe<ErrorCode>({ type: 'string', enum: Object.keys(errorStatus) }),
  requestId: Type.String({ example: '6f1c1de2-2f5c-4f0e-9d5e-0a6a5c1c1f7e' }),
  errors: Type.Optional(
    Type.Array(Type.Object({ field: Type.String({ example: 'name' }), message: Type.String() }), {
      description: 'Only on 400.',
    }),
  ),
})

/** The documented answers of a route that needs a key: its successes, and every error it can give. */
export function keyedAnswers(success: Answers, errors: ErrorCode[]): Answers {
  return { ...success, ...problemAnswers([...keyedErrors, ...errors]) }
}

/** The same for a protocol with an error format of its own. */
export function protocolAnswers(success: Answers, errors: ErrorCode[], errorBody: TSchema): Answers {
  const toAnswer = (status: number) =>
    jsonAnswer(status === 400 ? 'The request is not valid.' : describe(status), errorBody)
  return { ...success, ...errorAnswers([...keyedErrors, ...errors], toAnswer) }
}

export function problemAnswers(errors: ErrorCode[]): Answers {
  return errorAnswers(errors, problemAnswer)
}

function errorAnswers(errors: ErrorCode[], toAnswer: (status: number) => Answer): Answers {
  const statuses = [...new Set(errors.map((code) => errorStatus[code]))].sort()
  return Object.fromEntries(statuses.map((status) => [status, toAnswer(status)]))
}

/** A JSON answer of this schema. */
export function jsonAnswer(description: string, schema: TSchema, more: Partial<Answer> = {}): Answer {
  return { description, content: { 'application/json': { schema: asOpenApi(schema) } }, ...more }
}

/** What every DELETE answers. */
export function deletedAnswer(description: string): Answer {
  const schema = Type.Object({
    id: Type.String({ example: 'call-1042' }),
    deleted: Type.Unsafe<true>({ type: 'boolean', enum: [true] }),
  })
  return jsonAnswer(description, schema)
}

export function headerOf(description: string, example: string, required = true): OpenAPIV3.HeaderObject {
  return { description, required, schema: { type: 'string' }, example }
}

/** A parameter in the path, for documentation only: its feature validates it. */
export function pathParameter(name: string, description: string, example: string): OpenAPIV3.ParameterObject {
  return { name, in: 'path', required: true, description, schema: { type: 'string' }, example }
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

**Agents** that speak the Model Context Protocol connect to \`/mcp\` with an API key. The [guide](/docs/guide) says how to \
set up these and others, and how to run the service.`

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
}

/** The OpenAPI document at /docs/json, and the page at /docs that shows it with a script we serve. */
export function openApi({ version, scriptPath, securitySchemes }: OpenApiOptions) {
  const pages = swagger({
    path: '/docs',
    scalarCDN: scriptPath,
    scalarConfig: viewerSettings,
    exclude: [/^\/docs/, /^\/console/],
    documentation: {
      info: {
        title: 'Callbook',
        version,
        description: introduction,
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [{ url: '/', description: 'This service' }],
      tags: [
        { name: 'Calls', description: 'Records of the calls that agents handled.' },
        { name: 'Knowledge', description: 'Texts that agents retrieve from.' },
        { name: 'Changes', description: 'What has changed, to follow.' },
        { name: 'Erasures', description: 'Receipts of what was deleted.' },
        { name: 'Integrations', description: 'Protocols that agent platforms speak already.' },
        { name: 'Ingest', description: 'How platforms bring calls in.' },
        { name: 'Keys', description: 'The key that a request carries.' },
        { name: 'Service', description: 'Health and metrics.' },
      ],
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
        schemas: { Problem: asOpenApi(Problem) },
      },
    },
  })
  // The plugin calls the page's charset `utf8`, which is not its name.
  for (const { handler } of pages.routes) {
    if (handler instanceof Response) handler.headers.set('Content-Type', 'text/html; charset=utf-8')
  }
  return pages
}

function describe(status: number): string {
  return errorDescriptions[status] ?? 'Error'
}

const retryAfter: Answer['headers'] = {
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer' },
    example: 1,
  },
}
const errorHeaders: Record<number, Answer['headers']> = { 429: retryAfter, 503: retryAfter }

function problemAnswer(status: number): Answer {
  const headers = errorHeaders[status]
  return {
    description: describe(status),
    ...(headers ? { headers } : {}),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

/** Our schemas are written in OpenAPI 3.0's dialect of JSON Schema, which TypeBox's types do not know. */
function asOpenApi(schema: TSchema): OpenAPIV3.SchemaObject {
  return schema as OpenAPIV3.SchemaObject
}
