import { hasAnswer, notModified, type Tags, taggedHeaders } from '../../http/conditional.ts'
import { headersOfForm } from '../../http/json-headers.ts'
import type { Reader, ResponseBuffers } from '../../http/response-buffers.ts'
import { byteOrderMark } from '../../text/csv.ts'
import type { Calls } from '../calls.ts'
import { type CallQuery, type CallSearch, isFiltered } from '../finding/call-query.ts'
import { type CallParts, csvOf, linesOf } from './forms.ts'
import { readListRequest } from './list-request.ts'
import { exportedCharsMax } from './page.ts'

const limitDefault = 100
const callsPerPageMax = 1_000

/** The forms of a list; the first is the default. */
const forms = {
  'application/json': headersOfForm('application/json'),
  'application/x-ndjson': headersOfForm('application/x-ndjson'),
  'text/csv': headersOfForm('text/csv; charset=utf-8'),
}
type FormType = keyof typeof forms
export type FileType = Exclude<FormType, 'application/json'>

/**
 * The requested calls, in the form that the request accepts. Documents are copied into JSON without being parsed, and
 * large answers are streamed. @throws invalid_request naming every parameter that cannot be read
 */
export async function listCalls(
  calls: Calls,
  projectId: number,
  query: CallQuery,
  { request, tags, buffers, check }: { request: Request; tags: Tags } & Sending,
): Promise<Response> {
  const { type, hasMark } = formOf(request.headers.get('accept'))
  const cursors = calls.cursors(projectId)
  const isCsv = type === 'text/csv'
  const { search, limit, offset, ...parts } = readListRequest(query, { isCsv, readCursor: cursors.read })
  const sending = { buffers, check }
  if (type !== 'application/json')
    return await exportCalls(calls, projectId, search, { type, hasMark, ...parts, limit, offset, ...sending })
  const page = { limit: Math.min(limit ?? limitDefault, callsPerPageMax), offset }
  const mayBeKnown = request.headers.has('if-none-match')
  // A page without filters is read with its tag: a query of its own would take a tenth as long as the page. Words are
  // not tagged: those of a long call are indexed a little after it has changed.
  const isTagged = !search.words && (mayBeKnown || isFiltered(search))
  const tag = isTagged ? await tags.ofProject(projectId) : undefined
  if (tag && hasAnswer(request, tag)) return notModified(request, tag)
  const result = await calls.find(projectId, { search, ...page }, parts)
  const { total, totalIsCapped, end, documents, changeSeq } = result
  const next = end && cursors.write(end, search.order)
  const tail = `],"pagination":${JSON.stringify({ total, totalIsCapped, ...page, next })}}`
  const body = await buffers.streamOf({ projectId, check }, '{"data":[', documents, tail, result.sliceChars)
  const tagRead = tag ?? (changeSeq === undefined ? undefined : tags.of(projectId, changeSeq))
  const response = new Response(body, { headers: tagRead ? taggedHeaders : forms[type] })
  if (tagRead) response.headers.set('ETag', tagRead)
  return response
}

/** How an answer is sent. */
interface Sending extends Pick<Reader, 'check'> {
  buffers: ResponseBuffers
}

interface ExportAnswer extends Sending, CallParts {
  type: FileType
  /** Whether CSV begins with the byte order mark. */
  hasMark?: boolean
  limit?: number | undefined
  offset?: number | undefined
}

/** Exports all calls that a search finds, as lines. */
export async function exportCalls(
  calls: Calls,
  projectId: number,
  search: CallSearch,
  { type, hasMark, limit, offset, buffers, check, ...parts }: ExportAnswer,
): Promise<Response> {
  const { form, head } = type === 'text/csv' ? csvOf(parts) : { form: linesOf(parts), head: '' }
  const texts = calls.export(projectId, search, { form, limit, offset })
  const start = hasMark ? byteOrderMark + head : head
  const body = await buffers.streamOf({ projectId, check }, start, texts, '', exportedCharsMax)
  return new Response(body, { headers: forms[type] })
}

export function headersOf(type: FormType) {
  return forms[type]
}

/**
 * The form that the header prefers: https://www.rfc-editor.org/rfc/rfc9110#name-accept
 * @param types those that there are
 * @returns `hasMark`: whether CSV should begin with the byte order mark
 */
export function formOf(
  accept: string | null,
  types = Object.keys(forms) as FormType[],
): { type: FormType; hasMark: boolean } {
  let best = { type: 'application/json' as FormType, hasMark: false, weight: 0 }
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    const type = types.find((each) => each === name)
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    const weight = q === undefined ? 1 : Number(q.slice(2)) || 0
    const hasMark = type === 'text/csv' && parameters.includes('header=bom')
    if (type && weight > best.weight) best = { type, hasMark, weight }
  }
  return best
}
