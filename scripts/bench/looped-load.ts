import { serveLoad } from './load-process.ts'
import type { LoopedLoad, LoopedResult } from './looped.ts'

// Sends requests over some connections, each the next one as soon as the one before is answered.

await serveLoad(async (load: LoopedLoad): Promise<LoopedResult> => {
  const { url, headers, method, path, bodies, connections, seconds } = load
  let [sent, answered, failed] = [0, 0, 0]
  const startedAt = performance.now()
  const endAt = startedAt + seconds * 1_000
  const loop = async () => {
    while (performance.now() < endAt) {
      const index = sent++
      const target = `${url}${path.replace('{n}', String(index))}`
      const response = await fetch(target, { method, headers, body: bodies[index % bodies.length] ?? null })
      await response.arrayBuffer()
      if (response.ok) answered++
      else failed++
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  return { requestsPerSecond: (answered * 1_000) / (performance.now() - startedAt), failed }
})
