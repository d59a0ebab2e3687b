import { jsonHeaders } from './json-headers.ts'

/** Strong entity tags (RFC 9110, 8.8.3) of records and lists: see db/change-tags.ts. */
export interface Tags {
  of(projectId: number, changeSeq: number): string
  ofProject(projectId: number): Promise<string>
}

/** Headers of answers that clients may cache and revalidate. Answers vary by key and by form. */
// Lower-case like `jsonHeaders`, since a name in two cases would be sent twice.
const cacheHeaders = { 'cache-control': 'private, no-cache', vary: 'Authorization, Accept, Accept-Encoding' }

/** The headers of a JSON answer that has a tag; never change them. */
export const taggedHeaders = new Headers({ ...Object.fromEntries(jsonHeaders), ...cacheHeaders })

/** Whether the client has the answer with this tag, plain or compressed (`If-None-Match`, RFC 9110, 13.1.2). */
export function hasAnswer({ headers }: Request, tag: string): boolean {
  const tags = headers.get('if-none-match')
  return tags !== null && isAmong(tags.replace(/(^|,)\s*W\//g, '$1'), tag)
}

/**
 * Whether a change is meant for the record with this tag (`If-Match`, RFC 9110, 13.1.1). @param tag null if there is no
 * record
 */
export function isForRecord({ headers }: Request, tag: string | null): boolean {
  const tags = headers.get('if-match')
  return tags === null || (tag !== null && isAmong(tags, tag))
}

/** Whether the tag is in the list, as that of the plain or of the compressed answer. */
function isAmong(list: string, tag: string): boolean {
  const plain = list.split(',').map((each) => each.trim().replace(/-gzip"$/, '"'))
  return plain.includes(tag) || plain.includes('*')
}

/** The answer with its tag, or 304, without making the answer, if the client has it. */
export async function answerTagged(
  request: Request,
  tag: string,
  make: () => Response | Promise<Response>,
): Promise<Response> {
  if (hasAnswer(request, tag)) return notModified(request, tag)
  return withTag(await make(), tag)
}

function withTag(response: Response, tag: string): Response {
  for (const [name, value] of Object.entries(cacheHeaders)) response.headers.set(name, value)
  response.headers.set('ETag', tag)
  return response
}

/** Repeats the client's tag, which may be that of the compressed answer. */
export function notModified({ headers }: Request, tag: string): Response {
  const packed = tag.replace(/"$/, '-gzip"')
  const isPacked = headers.get('if-none-match')?.includes(packed) ?? false
  return new Response(null, { status: 304, headers: { ...cacheHeaders, ETag: isPacked ? packed : tag } })
}
