/** An answer with its whole body in memory. Throws what `tooLong` makes when the body is longer than the limit. */
export async function readWhole(
  response: Response,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Response> {
  if (!response.body) return response
  const { status, headers } = response
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const part of response.body) {
    bytes += part.byteLength
    if (bytes > bytesMax) throw tooLong()
    parts.push(part)
  }
  return new Response(new Blob(parts), { status, headers })
}
