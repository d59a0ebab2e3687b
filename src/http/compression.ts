import { streamOfParts } from './response-buffers.ts'
import { encodingFor } from './static-file.ts'

const bytesMin = 8_192
const gzipOnly = { gzip: new Blob() }
const textType = /^(application\/(problem\+)?json|application\/x-ndjson|text\/(?!event-stream))/

/**
 * The answer, compressed if it is long and the client accepts gzip, with an ETag of its own. The runtimes compress in
 * their own threads, as fast as the client reads. `Cache-Control: no-transform` prevents it.
 */
export async function compressed(request: Request, response: Response): Promise<Response> {
  const { headers } = response
  if (request.method === 'HEAD') return response
  const length = headers.get('content-length')
  // Checked before the body is touched, which would make it a stream.
  if (length !== null && Number(length) <= bytesMin) return response
  if (encodingFor(request.headers.get('accept-encoding'), gzipOnly) === null) return response
  if (headers.has('content-encoding') || !textType.test(headers.get('content-type') ?? '')) return response
  if (/no-transform/.test(headers.get('cache-control') ?? '')) return response
  const { body } = response
  if (body === null) return response
  const reader = body.getReader()
  const { parts, isWhole } = await begin(reader)
  if (isWhole) return new Response(Buffer.concat(parts), response)
  const answer = new Response(rest(parts, reader).pipeThrough(new CompressionStream('gzip')), response)
  answer.headers.set('Content-Encoding', 'gzip')
  answer.headers.delete('Content-Length')
  if (!headers.get('vary')?.includes('Accept-Encoding')) answer.headers.append('Vary', 'Accept-Encoding')
  const tag = headers.get('etag')
  if (tag !== null) answer.headers.set('ETag', tag.replace(/"$/, '-gzip"'))
  return answer
}

type Bytes = Uint8Array<ArrayBuffer>

/** Reads until the body is worth compressing, or to its end. */
async function begin(reader: ReadableStreamDefaultReader<Bytes>) {
  const parts: Bytes[] = []
  for (let size = 0; size <= bytesMin; ) {
    const { done, value } = await reader.read()
    if (done) return { parts, isWhole: true }
    parts.push(value)
    size += value.length
  }
  return { parts, isWhole: false }
}

/** A body of these parts and the rest of the reader. */
function rest(parts: Bytes[], reader: ReadableStreamDefaultReader<Bytes>): ReadableStream<Bytes> {
  const next = async () => parts.shift() ?? (await reader.read()).value ?? null
  return streamOfParts(next, () => reader.cancel())
}
