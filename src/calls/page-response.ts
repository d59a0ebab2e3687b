import { answerTagged, type Tags } from '../http/conditional.ts'
import { headersOfForm } from '../http/json-headers.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import { type CallQuery, isFiltered } from './call-query.ts'
import type { Calls } from './calls.ts'
import { exportedCharsMax } from './export.ts'
import { asLines, asPickedLines, csvOf } from './forms.ts'
import { readListRequest } from './list-request.ts'
import type { CallPage } from './page.ts'

const limitDefault = 100
const callsPerPageMax = 1_000

/** The forms of a list; the first is the default. */
const forms = {
  'application/json': headersOfForm('application/json'),
  'application/x-ndjson': headersOfForm('application/x-ndjson'),
  'text/csv': headersOfForm('text/csv; charset=utf-8'),
}
type FormType = keyof typeof forms

/**
 * The calls that a request asks for, in the form it accepts. JSON is made of documents that are never parsed. Whatever
 * is heavy is streamed.
 * @throws invalid_request naming every parameter that cannot be read
 */
export async function listCalls(
  calls: Calls,
  projectId: number,
  query: CallQuery,
  { request, tags, buffers }: { request: Request; tags: Tags; buffers: ResponseBuffers },
): Promise<Response> {
  const type = formOf(request.headers.get('accept'))
  const cursors = calls.cursors(projectId)
  const isCsv = type === 'text/csv'
  const { search, limit, offset, fields } = readListRequest(query, { isCsv, readCursor: cursors.read })
  if (type !== 'application/json') {
    const { form, head } = isCsv
      ? csvOf(fields)
      : { form: fields ? asPickedLines(fields) : asLines, head: '' }
    const parts = calls.export(projectId, search, { form, limit, offset })
    const body = await buffers.streamOf(head, parts, '', exportedCharsMax)
    return new Response(body, { headers: forms[type] })
  }
  const page = { limit: Math.min(limit ?? limitDefault, callsPerPageMax), offset }
  const make = async () => {
    const found =
      isFiltered(search) || fields
        ? await calls.search(projectId, search, { ...page, fields })
        : await calls.list(projectId, { ...page, order: search.order, after: search.after })
    const next = found.end && cursors.write(found.end, search.order)
    return await toPageResponse(found, { ...page, next }, buffers)
  }
  // Words of a long call are found a little after it has changed.
  return search.words ? await make() : await answerTagged(request, await tags.ofProject(projectId), make)
}

async function toPageResponse(
  { total, totalIsCapped, documents, sliceChars }: CallPage,
  page: { limit: number; offset: number; next: string | null },
  buffers: ResponseBuffers,
): Promise<Response> {
  const head = '{"data":['
  const tail = `],"pagination":${JSON.stringify({ total, totalIsCapped, ...page })}}`
  const body = Array.isArray(documents)
    ? Buffer.concat([Buffer.from(head), ...documents, Buffer.from(tail)])
    : await buffers.streamOf(head, documents, tail, sliceChars)
  return new Response(body, { headers: forms['application/json'] })
}

/** The form that the header prefers: https://www.rfc-editor.org/rfc/rfc9110#name-accept */
function formOf(accept: string | null): FormType {
  let [best, weight]: [FormType, number] = ['application/json', 0]
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const form = (Object.keys(forms) as FormType[]).find((known) => known === type)
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    const asked = q === undefined ? 1 : Number(q.slice(2)) || 0
    if (form && asked > weight) [best, weight] = [form, asked]
  }
  return best
}
