/**
 * Frees the memory of bytes that nobody needs any more, at once where the runtime can: collecting it later would keep
 * hundreds of megabytes while much arrives. Shared memory stays.
 */
export function release({ buffer, byteLength }: ArrayBufferView): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== byteLength) return
  // Node 20 does not have it.
  const { transfer } = buffer as { transfer?: (this: ArrayBuffer, bytes: number) => ArrayBuffer }
  transfer?.call(buffer, 0)
}

/** Releases each part when the next is asked for. */
export async function* eachReleased(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    yield part
    release(part)
  }
}
