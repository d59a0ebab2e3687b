import { retryAfter } from '../text/retry-after.ts'
import { readWhole } from '../text/whole-answer.ts'
import { jsonOf, valueAt } from '../validation.ts'
import type { Tokens } from './schemas.ts'

const complaintBytesMax = 65_536
/** Only the start of a complaint is looked at: what follows may repeat the request. */
const complaintCharsMax = 500

interface ModelUnavailableOptions {
  retryAfterMs?: number | undefined
  isOfCall?: boolean
}

/**
 * Why no call can be analyzed now. Holds nothing of the request and of the answer: the client's own errors hold the
 * transcript.
 */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable'
  readonly reason: 'credentials' | 'model' | 'busy' | 'unreachable'
  /** A sentence without a full stop. */
  readonly detail: string
  /** How long the server asked us to wait. */
  readonly retryAfterMs: number | null
  /** Whether the server took the request and failed with it, so that this call may be the reason. */
  readonly isOfCall: boolean
  /** What was used until then, by this request and those before it. */
  tokens: Tokens = { prompt: 0, completion: 0 }
  requests = 1

  constructor(
    reason: ModelUnavailable['reason'],
    detail: string,
    { retryAfterMs, isOfCall = false }: ModelUnavailableOptions = {},
  ) {
    super(detail)
    this.reason = reason
    this.detail = detail
    this.retryAfterMs = retryAfterMs ?? null
    this.isOfCall = isOfCall
  }
}

/** The server does not take this request, but may take others. The message says why, and nothing of the request. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  /** Whether it may take the request without a form for the answer. */
  readonly isOfFormat: boolean

  constructor(reason: string, isOfFormat = false) {
    super(reason)
    this.isOfFormat = isOfFormat
  }
}

export const contextTooSmall = 'context too small'

const complaints = {
  context: /context (?:size|length|window)|`inputs` (?:must|tokens)|too many tokens/i,
  format: /response_format|json.?schema|structured.output|grammar|guided/i,
  model:
    /model_not_(?:found|supported)|\bmodel\b.{0,120}\b(?:not found|does not exist|not supported by any)|(?:invalid|unknown|no such) model/i,
}

/** What an answer stands for that is not one of the chat API. */
export async function failureOf(
  response: Response,
  nowMs: number,
): Promise<ModelUnavailable | RequestRefused> {
  const { status, headers } = response
  const unavailable = (reason: ModelUnavailable['reason'], problem: string, isOfCall = false) =>
    new ModelUnavailable(reason, `The model server ${problem} (${status})`, {
      retryAfterMs: retryAfter(headers.get('retry-after'), nowMs),
      isOfCall,
    })
  if (status < 300) return unavailable('unreachable', 'sent something other than a chat answer')
  if (status < 400) return unavailable('unreachable', 'redirects to another address, where no call is sent')
  if (status === 401 || status === 403) return unavailable('credentials', 'refused the token')
  if (status === 402) return unavailable('credentials', 'wants to be paid')
  if (status === 404 || status === 405 || status === 410)
    return unavailable('model', 'does not know the model or the path')
  if (status === 429) return unavailable('busy', 'limits the rate of requests')
  const complaint = await complaintOf(response)
  // With any status: one version of llama.cpp has 500 here.
  if (complaints.context.test(complaint)) return new RequestRefused(contextTooSmall)
  if (status === 400 || status === 413 || status === 422) {
    if (complaints.model.test(complaint)) return unavailable('model', 'does not know the model')
    return new RequestRefused(`request refused (${status})`, complaints.format.test(complaint))
  }
  // A gateway says 502 and 503 when there is no server behind it, LiteLLM 408 when its server was too slow, and
  // text-generation-inference 424 when the model failed.
  const isOfCall = status === 408 || status === 424 || (status >= 500 && status !== 502 && status !== 503)
  return unavailable('unreachable', 'failed', isOfCall)
}

/** What is wrong, in any of the places where servers say it, but not where FastAPI repeats the request. */
async function complaintOf(response: Response): Promise<string> {
  // Without a body that can be read, the status has to do.
  const text = await readWhole(response, complaintBytesMax, () => new Error('Too long'))
    .then((whole) => whole.text())
    .catch(() => '')
  const body = jsonOf(text)
  if (body === undefined) return text.slice(0, complaintCharsMax)
  const error = valueAt(body, 'error') ?? body
  const details = ['code', 'type', 'param', 'message', 'detail'].map((name) => valueAt(error, name))
  return [error, ...details, valueAt(body, 'detail', 0, 'loc', 1)]
    .flatMap((each) => (typeof each === 'string' ? [each.slice(0, complaintCharsMax)] : []))
    .join(' ')
}
