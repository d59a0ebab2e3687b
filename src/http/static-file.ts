type Encoding = 'br' | 'gzip'

/** A file served from memory. */
export interface StaticFile {
  type: string
  /** Blobs, which answers share. Each answer would copy bytes until its client has read them. */
  plain: Blob
  encoded: Partial<Record<Encoding, Blob>>
}

interface FileAnswerOptions {
  /** Identifies the file's content, for its tag. */
  name: string
  /** The request's headers. */
  requestHeaders: Headers
  cacheControl: string
}

/** Answers with the smallest encoding of the file that the client accepts, or with 304 if the client has it. */
export function answerFile(
  { type, plain, encoded }: StaticFile,
  { name, requestHeaders, cacheControl }: FileAnswerOptions,
): Response {
  const encoding = encodingFor(requestHeaders.get('accept-encoding'), encoded)
  const tag = `"${name}-${encoding ?? 'identity'}"`
  const headers: Record<string, string> = {
    'Content-Type': type,
    'Cache-Control': cacheControl,
    ETag: tag,
    Vary: 'Accept-Encoding',
  }
  if (isCurrent(requestHeaders.get('if-none-match'), tag)) return new Response(null, { status: 304, headers })
  if (encoding) headers['Content-Encoding'] = encoding
  return new Response((encoding && encoded[encoding]) ?? plain, { headers })
}

/** The smallest available encoding that the client accepts (RFC 9110, 12.5.3); null for none. */
export function encodingFor(acceptEncoding: string | null, encoded: StaticFile['encoded']): Encoding | null {
  const weightZero = /^q=0(\.0*)?$/
  const codings = (acceptEncoding ?? '').split(',').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return parameters.some((parameter) => weightZero.test(parameter)) ? [] : [name]
  })
  return (['br', 'gzip'] as const).find((encoding) => encoded[encoding] && codings.includes(encoding)) ?? null
}

function isCurrent(tags: string | null, tag: string): boolean {
  return tags?.split(',').some((part) => part.trim().replace(/^W\//, '') === tag) ?? false
}
