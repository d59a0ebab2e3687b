import { createRandom } from '../random.ts'

/** The prefix that marks a text as a query for the default model, bge. */
const queryPrefix = 'Represent this sentence for searching relevant passages: '
const dimensions = 384

export interface SlowEmbeddings {
  url: string
  /** Delays the answers to queries from now on, not those to documents. */
  delayQueries(ms: number): void
  stop(): Promise<void>
}

/** A server like text-embeddings-inference. A text's characters determine its vector. */
export function startSlowEmbeddings(): SlowEmbeddings {
  let delayMs = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { inputs }: { inputs: string | string[] } = await request.json()
      const texts = [inputs].flat()
      if (delayMs > 0 && texts.some((text) => text.startsWith(queryPrefix)))
        await new Promise((resolve) => setTimeout(resolve, delayMs))
      return Response.json(texts.map(vectorOf))
    },
  })
  return {
    url: server.url.origin,
    delayQueries(ms) {
      delayMs = ms
    },
    stop: () => server.stop(true),
  }
}

function vectorOf(text: string): number[] {
  let seed = 0
  for (let at = 0; at < text.length; at++) seed = Math.imul(seed ^ text.charCodeAt(at), 0x01000193)
  const random = createRandom(seed)
  const vector = Array.from({ length: dimensions }, () => random() - 0.5)
  const norm = Math.hypot(...vector)
  return vector.map((value) => value / norm)
}
