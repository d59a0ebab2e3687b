import { InferenceClient } from '@huggingface/inference'
import { failureOf, RequestFailure, type SeenAnswer } from './failures.ts'

/** 32 token-level answers of 512 tokens x 384 numbers are some 75 MB of JSON. */
const answerBytesMax = 96 * 1024 * 1024

interface FeatureExtractionOptions {
  model: string
  endpoint: string | null
  token: string | null
  fetch: typeof fetch
  timeoutMs: number
}

/** Hugging Face's feature-extraction task at one address, with limits on time and on the answer's size. */
export class FeatureExtraction {
  /** Where texts are sent, without user, password and query, which may be secrets. */
  readonly destination: string
  private readonly url: string
  private readonly client: InferenceClient
  private readonly fetch: typeof fetch
  private readonly timeoutMs: number

  constructor({ model, endpoint, token, fetch, timeoutMs }: FeatureExtractionOptions) {
    this.url = endpoint === null ? hostedUrl(model) : endpointUrl(endpoint)
    const { origin, pathname } = new URL(this.url)
    this.destination = origin + pathname
    this.client = new InferenceClient(token ?? undefined)
    this.fetch = fetch
    this.timeoutMs = timeoutMs
  }

  /** What the provider answers, unread. Throws RequestFailure. */
  async request(inputs: string[], signal: AbortSignal): Promise<unknown> {
    const timeout = AbortSignal.timeout(this.timeoutMs)
    const seen: SeenAnswer = { response: null, isTooLong: false }
    try {
      // With `endpointUrl` the client does not look up providers, some of which serve other vectors of the same model.
      const args = { endpointUrl: this.url, inputs, normalize: true, truncate: true }
      return await this.client.featureExtraction(args, {
        signal: AbortSignal.any([signal, timeout]),
        fetch: this.watchedFetch(seen),
        // By default the client repeats a request that got 503, at once and for ever.
        retry_on_error: false,
      })
    } catch (error) {
      if (signal.aborted) throw new RequestFailure('cancelled')
      if (timeout.aborted) throw new RequestFailure('timeout', { detail: `${this.timeoutMs} ms` })
      throw failureOf(error, seen)
    }
  }

  private watchedFetch(seen: SeenAnswer): typeof fetch {
    const { fetch } = this
    const watched = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      // Texts go to the destination that was announced, and nowhere else.
      seen.response = await fetch(input, { ...init, redirect: 'manual' })
      return withBodyLimit(seen.response, seen)
    }
    return Object.assign(watched, { preconnect: fetch.preconnect })
  }
}

function withBodyLimit(response: Response, seen: SeenAnswer): Response {
  let bytes = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes <= answerBytesMax) return controller.enqueue(chunk)
      seen.isTooLong = true
      controller.error(new Error('The answer is too long'))
    },
  })
  const { status, headers } = response
  return response.body ? new Response(response.body.pipeThrough(limit), { status, headers }) : response
}

function hostedUrl(model: string): string {
  return `https://router.huggingface.co/hf-inference/models/${model}/pipeline/feature-extraction`
}

function endpointUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : null
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('The embedding endpoint must be an http or https URL')
  }
  return url.href
}
