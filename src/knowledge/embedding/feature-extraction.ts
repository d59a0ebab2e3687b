import { InferenceClient, InferenceClientProviderOutputError } from '@huggingface/inference'
import { networkCode } from '../../text/connection-problem.ts'
import { readWhole } from '../../text/whole-answer.ts'
import { failureOf, RequestFailure } from './failures.ts'

/** 32 token-level answers of 512 tokens x 384 numbers are some 75 MB of JSON. */
const answerBytesMax = 96 * 1024 * 1024

interface FeatureExtractionOptions {
  model: string
  endpoint: string | null
  token: string | null
  fetch: typeof fetch
  timeoutMs: number
}

export type FeatureExtraction = ReturnType<typeof featureExtraction>

/** Hugging Face's feature-extraction task at one address, with limits on time and on the answer's size. */
export function featureExtraction(options: FeatureExtractionOptions) {
  const { timeoutMs } = options
  const url = urlOf(options)
  const client = new InferenceClient(options.token ?? undefined)
  const fetch = checkedFetch(options.fetch)
  return {
    /** Leaves out user, password and query, which may be secrets. */
    destination: url.origin + url.pathname,
    /** The provider's answer, unchecked. @throws RequestFailure */
    async request(inputs: string[], signal: AbortSignal): Promise<unknown> {
      const timeout = AbortSignal.timeout(timeoutMs)
      // With `endpointUrl` the client does not look up providers, some of which serve other vectors of the same model.
      const args = { endpointUrl: url.href, inputs, normalize: true, truncate: true }
      try {
        return await client.featureExtraction(args, {
          signal: AbortSignal.any([signal, timeout]),
          fetch,
          // By default the client repeats a request that got 503, at once and for ever.
          retry_on_error: false,
        })
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

function urlOf({ model, endpoint }: FeatureExtractionOptions): URL {
  const hosted = `https://router.huggingface.co/hf-inference/models/${model}/pipeline/feature-extraction`
  const address = endpoint ?? hosted
  if (/^https?:/i.test(address) && URL.canParse(address)) return new URL(address)
  throw new Error('The embedding endpoint must be an http or https URL')
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
