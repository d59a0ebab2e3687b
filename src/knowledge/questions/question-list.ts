import { type FieldError, invalidRequest } from '../../errors.ts'

/** Whether a question is a gap in the knowledge, is answered, or was dismissed by a person. */
export const questionStateNames = ['gap', 'answered', 'dismissed'] as const

const limitDefault = 100
const limitMax = 1_000

/** Which questions to list. */
export interface QuestionListRequest {
  state: (typeof questionStateNames)[number]
  limit: number
  cursor?: string | undefined
}

/** @throws invalid_request naming every parameter that cannot be read */
export function readQuestionListRequest(
  query: Readonly<Record<string, readonly string[] | undefined>>,
): QuestionListRequest {
  const errors: FieldError[] = []
  const limit = query.limit?.at(-1)
  if (limit !== undefined && !/^[0-9]{1,15}$/.test(limit))
    errors.push({ field: 'limit', message: 'must be a whole number of at most 15 digits' })
  const name = query.state?.at(-1) ?? 'gap'
  const state = questionStateNames.find((each) => each === name)
  if (!state) errors.push({ field: 'state', message: `must be one of ${questionStateNames.join(', ')}` })
  if (!state || errors.length > 0) throw invalidRequest(errors)
  return {
    state,
    limit: limit === undefined ? limitDefault : Math.min(Number(limit), limitMax),
    cursor: query.cursor?.at(-1),
  }
}

/** Where a question stands in the list. */
interface Place {
  count: number
  lastAt: number
  id: string
}

/** The question's place in the list, as an opaque text for clients. */
export function writeCursor({ count, lastAt, id }: Place): string {
  return Buffer.from(`${count}.${lastAt}.${id}`).toString('base64url')
}

/** The place that a page starts after; null for the first page. @throws invalid_request */
export function readCursor(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null
  const place = Buffer.from(cursor, 'base64url').toString()
  const [, count, lastAt, id] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{1,64})$/.exec(place) ?? []
  if (count && lastAt && id) return { count: Number(count), lastAt: Number(lastAt), id }
  throw invalidRequest([{ field: 'cursor', message: 'must be the `next` of another page' }])
}
