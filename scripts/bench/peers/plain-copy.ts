import { createWriteStream } from 'node:fs'
import { join } from 'node:path'

// Keeps what is PUT as it is, without a key, a hash or a promise, and serves it: what keeping recordings is compared with.

const folder = process.argv[2] ?? '.'

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    if (request.url.endsWith('/v1/key')) return new Response('{}')
    const path = join(folder, new URL(request.url).pathname.replaceAll('/', '_'))
    if (request.method !== 'PUT') return new Response(Bun.file(path))
    const file = createWriteStream(path)
    for await (const part of request.body ?? [])
      if (!file.write(part)) await new Promise<void>((resolve) => file.once('drain', () => resolve()))
    await new Promise<void>((resolve) => file.end(() => resolve()))
    return new Response('kept')
  },
})
process.stdout.write(`listening on ${server.url.origin}\n`)
