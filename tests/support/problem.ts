import { expect } from 'bun:test'
import { type ErrorCode, errorStatus } from '../../src/errors.ts'

export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: ErrorCode
  requestId: string
  errors?: { field: string; message: string }[]
}

/** What most problems of a code are called. */
const titles: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'Invalid request',
  not_found: 'Not found',
  forbidden: 'Forbidden',
  not_signed_in: 'Sign in required',
  method_not_allowed: 'Method not allowed',
  payload_too_large: 'Payload too large',
  unsupported_media_type: 'Unsupported media type',
  rate_limited: 'Too many requests',
  call_on_hold: 'Call is on hold',
  unavailable: 'Service unavailable',
}

/** Which fields a refused request has wrong. */
export async function badFields(answer: Response): Promise<string[]> {
  const { errors = [] } = await expectProblem(answer, 'invalid_request')
  return errors.map(({ field }) => field)
}

/** Checks that the answer is this problem in the format of all errors, and returns it. */
export async function expectProblem(
  answer: Response,
  code: ErrorCode,
  title = titles[code] ?? 'a title of its own',
): Promise<Problem> {
  const problem: Problem = await answer.json()
  expect(problem).toMatchObject({ title, code, status: errorStatus[code], type: `/docs/errors#${code}` })
  expect(answer.status).toBe(errorStatus[code])
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(problem.detail).toMatch(/\S{2,}.*/)
  expect(problem.requestId).toBe(answer.headers.get('x-request-id') ?? 'no header')
  const fields = ['type', 'title', 'status', 'detail', 'code', 'requestId']
  expect(Object.keys(problem)).toEqual(code === 'invalid_request' ? [...fields, 'errors'] : fields)
  return problem
}
