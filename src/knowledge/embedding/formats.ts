import { InferenceClient, InferenceClientProviderOutputError } from '@huggingface/inference'
import { networkCode } from '../../text/connection-problem.ts'
import { readWhole } from '../../text/whole-answer.ts'
import { valueAt } from '../../validation.ts'
import { failureOf, RequestFailure } from './failures.ts'

/** 32 token-level answers of 512 tokens x 384 numbers are some 75 MB of JSON. */
const answerBytesMax = 96 * 1024 * 1024

export type EmbeddingFormat = 'huggingface' | 'openai'

interface ServerOptions {
  format: EmbeddingFormat
  model: string
  endpoint: string | null
  token: string | null
  fetch: typeof fetch
  timeoutMs: number
}

/** Sends one request and returns the rows of its answer, unchecked. */
type Request = (url: URL, inputs: string[], signal: AbortSignal) => Promise<unknown>

export type EmbeddingServer = ReturnType<typeof embeddingServer>

/** An embedding server at one address, with limits on time and on the answer's size. */
export function embeddingServer(options: ServerOptions) {
  const { timeoutMs, format } = options
  const url = urlOf(options)
  const request = formats[format]({ ...options, fetch: checkedFetch(options.fetch) })
  return {
    /** Leaves out user, password and query, which may be secrets. */
    destination: url.origin + url.pathname,
    /** The provider's answer, unchecked. @throws RequestFailure */
    async request(inputs: string[], signal: AbortSignal): Promise<unknown> {
      const timeout = AbortSignal.timeout(timeoutMs)
      try {
        return await request(url, inputs, AbortSignal.any([signal, timeout]))
      } catch (error) {
        if (signal.aborted) throw new RequestFailure('cancelled')
        if (timeout.aborted) throw new RequestFailure('timeout', { detail: `${timeoutMs} ms` })
        if (error instanceof RequestFailure) throw error
        const isJson = error instanceof InferenceClientProviderOutputError
        throw new RequestFailure(isJson ? 'malformed' : 'unreadable')
      }
    },
  }
}

function urlOf({ format, model, endpoint }: ServerOptions): URL {
  const hosted = `https://router.huggingface.co/hf-inference/models/${model}/pipeline/feature-extraction`
  const address = endpoint ?? hosted
  if (!/^https?:/i.test(address) || !URL.canParse(address))
    throw new Error('The embedding endpoint must be an http or https URL')
  const url = new URL(address)
  if (format === 'openai') {
    const base = url.pathname.replace(/\/+$/, '') || '/v1'
    url.pathname = base.endsWith('/embeddings') ? base : `${base}/embeddings`
  }
  return url
}

const formats = { huggingface: featureExtraction, openai: openAiEmbeddings } satisfies Record<
  EmbeddingFormat,
  (options: ServerOptions) => Request
>

/** https://huggingface.co/docs/inference-providers/tasks/feature-extraction */
function featureExtraction({ token, fetch }: ServerOptions): Request {
  const client = new InferenceClient(token ?? undefined)
  return (url, inputs, signal) => {
    // With `endpointUrl` the client does not look up providers, some of which serve other vectors of the same model.
    const args = { endpointUrl: url.href, inputs, normalize: true, truncate: true }
    // By default the client repeats a request that got 503, at once and for ever.
    return client.featureExtraction(args, { signal, fetch, retry_on_error: false })
  }
}

/** https://platform.openai.com/docs/api-reference/embeddings: without `encoding_format`, vectors are lists of numbers. */
function openAiEmbeddings({ model, token, fetch }: ServerOptions): Request {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (token !== null) headers.authorization = `Bearer ${token}`
  return async (url, inputs, signal) => {
    const body = JSON.stringify({ model, input: inputs })
    const response = await fetch(url, { method: 'POST', headers, body, signal })
    return rowsInOrder(await response.json())
  }
}

/** The vectors in the order of the texts, which `index` tells. */
function rowsInOrder(answer: unknown): unknown[] {
  const data = valueAt(answer, 'data')
  if (!Array.isArray(data)) throw new RequestFailure('malformed')
  const rows = new Map<unknown, unknown>()
  for (const [position, entry] of data.entries())
    rows.set(valueAt(entry, 'index') ?? position, valueAt(entry, 'embedding'))
  return data.map((_, index) => {
    if (!rows.has(index))
      throw new RequestFailure('malformed', { detail: `no vector has the index ${index}` })
    return rows.get(index)
  })
}

/** A fetch that throws a RequestFailure for every answer that cannot hold vectors. */
function checkedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const checkedRequest = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    // Texts go to the configured address and nowhere else.
    const response = await fetch(input, { ...init, redirect: 'manual' }).catch((error) => {
      throw new RequestFailure('network', { detail: networkCode(error) })
    })
    const answer = await readWhole(response, answerBytesMax, () => new RequestFailure('tooLong'))
    if (!answer.ok) throw await failureOf(answer)
    return answer
  }
  return Object.assign(checkedRequest, { preconnect: fetch.preconnect })
}
