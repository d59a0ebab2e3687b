import type { AuthenticateKey } from './authenticate.ts'
import type { AnswerError } from './problems.ts'
import type { RequestContext } from './request-context.ts'

interface DirectReadOptions {
  /** The path before the id. */
  prefix: string
  /** The route's own answer. */
  answer: (request: Request, projectId: number, id: string) => Promise<Response>
  authenticateKey: AuthenticateKey
  answerError: AnswerError
}

/** What needs no decoding: every id that a call may have. */
const plainId = /^[A-Za-z0-9._:-]+$/

/**
 * Answers the most frequent read, of one record by its id, without Elysia, whose hooks cost as much as all the rest.
 * Judgement, answer and errors are those of the route. Null for any other request, which Elysia answers.
 */
export function directRead({ prefix, answer, authenticateKey, answerError }: DirectReadOptions) {
  const read = async (request: Request, context: RequestContext, id: string) => {
    try {
      const { projectId } = await authenticateKey('live', request, context)
      return await answer(request, projectId, id)
    } catch (error) {
      return answerError(error, request)
    }
  }
  return (request: Request, context: RequestContext): Promise<Response> | null => {
    const { path } = context
    if (request.method !== 'GET' || !path.startsWith(prefix) || request.url.includes('?')) return null
    const id = path.slice(prefix.length)
    return plainId.test(id) ? read(request, context, id) : null
  }
}
