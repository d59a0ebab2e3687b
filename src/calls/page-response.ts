import { invalidRequest } from '../errors.ts'
import { jsonHeaders } from '../http/json-headers.ts'
import type { ResponseBuffers } from '../http/response-buffers.ts'
import type { CallPage, PageRequest } from './page.ts'

const limitDefault = 100
const callsPerPageMax = 1_000
const wholeNumber = /^[0-9]{1,15}$/

/** @throws invalid_request naming the parameters that are not whole numbers. */
export function readPageRequest(query: Record<string, string | undefined>): PageRequest {
  const message = 'must be a whole number of at most 15 digits'
  const bad = (['limit', 'offset'] as const).filter((field) => !wholeNumber.test(query[field] ?? '0'))
  if (bad.length > 0) throw invalidRequest(bad.map((field) => ({ field, message })))
  const { limit = limitDefault, offset = 0 } = query
  return { limit: Math.min(Number(limit), callsPerPageMax), offset: Number(offset) }
}

/** A page as JSON, made of documents that are never parsed; a heavy one is streamed. */
export async function toPageResponse(
  { total, documents, sliceChars }: CallPage,
  { limit, offset }: PageRequest,
  buffers: ResponseBuffers,
): Promise<Response> {
  const head = '{"data":['
  const tail = `],"pagination":{"total":${total},"limit":${limit},"offset":${offset}}}`
  const body = Array.isArray(documents)
    ? Buffer.concat([Buffer.from(head), ...documents, Buffer.from(tail)])
    : await buffers.streamOf(head, documents, tail, sliceChars)
  return new Response(body, { headers: jsonHeaders })
}
