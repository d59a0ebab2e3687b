import { Type } from '@sinclair/typebox'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import type { ActedBy } from '../identity.ts'
import { compileCheck } from '../validation.ts'
import type { Cases } from './cases.ts'
import { type FormatName, formatNames, formats } from './formats/formats.ts'
import type { Case } from './schemas.ts'

const listLimitMax = 1_000

type Query = Readonly<Record<string, readonly string[]>>

const checkList = compileCheck(
  Type.Object({
    call: Type.Optional(Type.String()),
    limit: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,15}$',
        'x-message': 'must be a whole number of at most 15 digits',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ pattern: '^case_[0-9a-f]{32}$', 'x-message': 'must be the `next` of another page' }),
    ),
  }),
)

/** Reads the parameters of a list. @throws invalid_request naming each that cannot be read */
export function readListRequest(query: Query) {
  const { limit = '100', ...others } = checkList(single(query))
  return { ...others, limit: Math.min(Number(limit), listLimitMax) }
}

const checkExport = compileCheck(
  Type.Object({ format: Type.Unsafe<FormatName>({ type: 'string', enum: [...formatNames] }) }),
)

/** Reads the parameters of an export. @throws invalid_request naming each that cannot be read */
export function readExportRequest({ id: ids, ...query }: Query) {
  return { ...checkExport(single(query)), ids }
}

/** A parameter that is repeated stays a list, which no schema takes. */
function single(query: Query): object {
  return Object.fromEntries(
    Object.entries(query).map(([name, values]) => [name, values.length > 1 ? values : values[0]]),
  )
}

interface Answering {
  projectId: number
  check: () => Promise<unknown>
  by: ActedBy
  buffers: ResponseBuffers
}

/** A page of cases, streamed. */
export async function listCases(
  cases: Cases,
  { projectId, check, buffers }: Omit<Answering, 'by'>,
  request: Parameters<Cases['page']>[1],
): Promise<Response> {
  const page = await cases.page(projectId, request)
  const tail = `],"pagination":{"next":${JSON.stringify(page.next)}}}`
  const body = await buffers.streamOf({ projectId, check }, '{"data":[', joined(page.cases), tail)
  return new Response(body, { headers: { 'Content-Type': 'application/json' } })
}

/** Cases as a file for a framework. @throws not_found for an unknown id */
export async function exportCases(
  cases: Cases,
  { projectId, check, by, buffers }: Answering,
  { format, ids }: { format: FormatName; ids?: readonly string[] | undefined },
): Promise<Response> {
  const { file, mediaType, head, of } = formats[format]
  const texts = textsOf(await cases.exported(projectId, ids), (each) => of(each, {}))
  const body = await buffers.streamOf({ projectId, check }, head({}), texts, '')
  await cases.noteExport(projectId, format, by)
  const headers = { 'Content-Type': mediaType, 'Content-Disposition': `attachment; filename="${file}"` }
  return new Response(body, { headers })
}

async function* joined(cases: AsyncIterable<Case>): AsyncGenerator<string> {
  let separator = ''
  for await (const each of cases) {
    yield separator + JSON.stringify(each)
    separator = ','
  }
}

async function* textsOf(cases: AsyncIterable<Case>, textOf: (of: Case) => string): AsyncGenerator<string> {
  for await (const each of cases) yield textOf(each)
}
