const messagesMax = 500
const bytesMax = 131_072

/** What of a request is read before other requests get a turn. An attribute of two bytes takes as long as a long text. */
export class Slice {
  #messages = 0
  #bytes = 0

  /** Counts a message. @returns whether the slice is full, and the next one has begun */
  add(message: unknown): boolean {
    this.#messages++
    if (message instanceof Uint8Array) this.#bytes += message.byteLength
    if (this.#messages < messagesMax && this.#bytes < bytesMax) return false
    this.#messages = 0
    this.#bytes = 0
    return true
  }
}
