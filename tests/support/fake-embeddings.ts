import type { IncomingMessage } from 'node:http'
import { type FakeModel, type ModelMisbehaviour, type Reply, startFakeModel } from './fake-model.ts'

export interface Misbehaviour extends ModelMisbehaviour {
  /** Wait this long for each text, one request at a time, as a model on a slow CPU does. */
  msPerText?: number
  /** `pooled` [n][d], `single` [d], `tokens` [n][tokens][d], `padded` the same with padding to the longest. */
  shape?: 'pooled' | 'single' | 'tokens' | 'padded'
  /** Length of the vectors. */
  dimensions?: number
  /** Number of vectors minus number of texts. */
  extra?: number
  /** JSON for an entry of the last vector, such as `NaN`, `null`, `1e999` or `"0.5"`. */
  entry?: string
  /** In OpenAI's format, the `index` of each vector; by default in order. */
  indexes?: unknown[]
  /** All entries of the last vector are 0. */
  zero?: boolean
}

export interface RecordedRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
  texts: string[]
  receivedAtMs: number
}

export type FakeEmbeddings = FakeModel<RecordedRequest, Misbehaviour>

export interface FakeEmbeddingsOptions {
  dimensions?: number
  /** Texts one request may hold, as `--max-client-batch-size` of text-embeddings-inference. */
  batchTextsMax?: number
  /** When set, other tokens get 401. */
  token?: string
}

/**
 * A server like text-embeddings-inference and the router's feature extraction, and under `/embeddings` like OpenAI's. A text's words determine its vector, so
 * texts that share words are near.
 */
export function startFakeEmbeddings(options: FakeEmbeddingsOptions = {}): Promise<FakeEmbeddings> {
  let lastTurn = Promise.resolve()
  return startFakeModel<RecordedRequest, Misbehaviour>({
    record: recordOf,
    async reply(recorded, misbehaviour, response) {
      if (misbehaviour.msPerText) {
        const ms = misbehaviour.msPerText * recorded.texts.length
        lastTurn = lastTurn.then(
          () => new Promise((resolve) => setTimeout(resolve, response.closed ? 0 : ms)),
        )
        await lastTurn
      }
      return replyTo(recorded, misbehaviour, options)
    },
  })
}

function recordOf(request: IncomingMessage, text: string): RecordedRequest {
  const body = JSON.parse(text) as Record<string, unknown>
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body,
    texts: [body.inputs ?? body.input].flat() as string[],
    receivedAtMs: performance.now(),
  }
}

/** The server's vector for a text. */
export function fakeVector(text: string, dimensions = 384): number[] {
  const sums = new Array<number>(dimensions).fill(0)
  for (const token of fakeTokenVectors(text, dimensions)) {
    for (const [index, value] of token.entries()) sums[index] = (sums[index] ?? 0) + value
  }
  const norm = Math.sqrt(sums.reduce((squares, value) => squares + value * value, 0))
  return sums.map((value) => value / norm)
}

/** The vectors of a text's tokens, the first of which stands for `[CLS]`. */
export function fakeTokenVectors(text: string, dimensions = 384): number[][] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return ['[CLS]', ...words].map((word) => wordVector(word, dimensions))
}

function wordVector(word: string, dimensions: number): number[] {
  let state = 0x9e3779b9
  for (const char of word) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return state / 2 ** 31
  })
}

const knownPath =
  /^\/(?:embed|hf-inference\/models\/[\w.-]+(?:\/[\w.-]+)?\/pipeline\/feature-extraction)?$|\/embeddings$/

function replyTo(
  recorded: RecordedRequest,
  misbehaviour: Misbehaviour,
  options: FakeEmbeddingsOptions,
): Reply {
  const { texts } = recorded
  const { authorization } = recorded.headers
  const max = options.batchTextsMax ?? 32
  const headers = { 'content-type': 'application/json', ...misbehaviour.headers }
  if (misbehaviour.html) {
    const body = '<!doctype html><h1>Hello</h1>'
    return { status: misbehaviour.status ?? 200, headers: { 'content-type': 'text/html' }, body }
  }
  if (misbehaviour.body !== undefined || misbehaviour.status !== undefined) {
    const body = misbehaviour.body ?? { error: `Failed on ${JSON.stringify(texts)}` }
    const json = typeof body === 'string' ? body : JSON.stringify(body)
    return { status: misbehaviour.status ?? 200, headers, body: json }
  }
  const problem = (status: number, error: string, error_type: string): Reply => ({
    status,
    headers,
    body: JSON.stringify({ error, error_type }),
  })
  if (!knownPath.test(recorded.path)) return problem(404, 'Not Found', 'NotFound')
  if (options.token && authorization !== `Bearer ${options.token}`)
    return problem(401, `Invalid token ${authorization}`, 'Unauthorized')
  if (texts.length > max)
    return problem(413, `batch size ${texts.length} > maximum allowed batch size ${max}`, 'Validation')
  if (texts.includes('')) return problem(413, '`inputs` cannot be empty', 'Validation')
  const dimensions = misbehaviour.dimensions ?? options.dimensions ?? 384
  return {
    status: 200,
    headers,
    body: isOpenAi(recorded)
      ? listJson(texts, misbehaviour, dimensions)
      : `[${vectorsJson(texts, misbehaviour, dimensions)}]`,
  }
}

const isOpenAi = ({ path }: RecordedRequest) => path.endsWith('/embeddings')

/** https://platform.openai.com/docs/api-reference/embeddings/create */
function listJson(texts: string[], misbehaviour: Misbehaviour, dimensions: number): string {
  const { indexes } = misbehaviour
  const entries = vectorsJson(texts, misbehaviour, dimensions).map((embedding, position) => {
    const index = indexes ? indexes[position] : position
    return `{"object":"embedding",${index === undefined ? '' : `"index":${JSON.stringify(index)},`}"embedding":${embedding}}`
  })
  return `{"object":"list","data":[${entries.join()}],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}`
}

/** The JSON of each vector. */
function vectorsJson(texts: string[], misbehaviour: Misbehaviour, dimensions: number): string[] {
  const { shape = 'pooled', extra = 0, entry, zero } = misbehaviour
  if (shape === 'single') return fakeVector(texts[0] ?? '', dimensions).map(String)
  const rows: unknown[] = texts.map((text) =>
    shape === 'pooled' ? fakeVector(text, dimensions) : fakeTokenVectors(text, dimensions),
  )
  if (shape === 'padded') {
    const tokensMax = Math.max(...texts.map((text) => fakeTokenVectors(text, 1).length))
    for (const row of rows as number[][][])
      while (row.length < tokensMax) row.push(wordVector('[PAD]', dimensions))
  }
  for (let count = 0; count < extra; count++) rows.push(fakeVector('one more', dimensions))
  if (extra < 0) rows.splice(extra)
  if (zero) rows[rows.length - 1] = new Array(dimensions).fill(0)
  const json = rows.map((row) => JSON.stringify(row))
  if (entry !== undefined) json.push(json.pop()?.replace(/[^,[\]]+(\]+)$/, `${entry}$1`) ?? '')
  return json
}
