const messageCharsMax = 300
/** Longer answers are not read: an error is short. */
const answerCharsMax = 20_000
const mayFail = /error|fail|exception|"success"|"ok"|"status/i
const failedStatus = /^(error|failed|failure)$/i
const failedText = /^\s*(error|failed|failure|exception|traceback|http (4|5)\d\d)\b/i

/**
 * Why a tool failed, as far as its answer says so; null if it does not. Platforms have no field for it, so this reads what
 * tools usually answer: a text that begins with an error, or JSON with an error, a failed status, or `success: false`.
 */
export function failureIn(answer: string): string | null {
  if (answer.length > answerCharsMax || !mayFail.test(answer)) return null
  const value = parsed(answer)
  if (typeof value === 'string') return failedText.test(value) ? cut(value) : null
  if (!isRecord(value)) return null
  const { error, errors, message, status, statusCode, success, ok, isError, is_error } = value
  const told = messageOf(error) ?? messageOf(errors)
  const hasFailed =
    told !== null ||
    success === false ||
    ok === false ||
    isError === true ||
    is_error === true ||
    (typeof status === 'string' && failedStatus.test(status)) ||
    isHttpError(status) ||
    isHttpError(statusCode)
  return hasFailed ? cut(told ?? messageOf(message) ?? answer) : null
}

/** The text of an error, which may be an object with a message, or a list of them. */
function messageOf(error: unknown): string | null {
  if (typeof error === 'string') return error || null
  if (error === true) return 'Error'
  if (Array.isArray(error)) return messageOf(error[0])
  if (!isRecord(error)) return null
  return messageOf(error.message) ?? messageOf(error.detail) ?? JSON.stringify(error)
}

function isHttpError(status: unknown): boolean {
  return typeof status === 'number' && status >= 400 && status < 600
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not every tool answers with JSON.
    return text
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cut(text: string): string {
  return text.length > messageCharsMax ? `${text.slice(0, messageCharsMax)}…` : text
}
