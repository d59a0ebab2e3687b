import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'

const cipher = 'aes-256-ctr'
const hashBytes = 16
const tokenPattern = /^[\w-]{24,300}$/

/**
 * Names a phone number where others read along: in addresses of pages, in logs, in a browser's history. The name is the
 * number's keyed hash and, encrypted with that as the nonce, the number (RFC 5297 calls this a synthetic IV), so that
 * nothing has to be stored to find the number again. The same number has another name in each project.
 */
export class CallerAddress {
  readonly #hashKey: Buffer
  readonly #cipherKey: Buffer

  constructor(secret: string) {
    const keyFor = (use: string) => createHmac('sha256', secret).update(`caller ${use}`).digest()
    this.#hashKey = keyFor('hash')
    this.#cipherKey = keyFor('cipher')
  }

  write(projectId: number, number: string): string {
    const hash = this.#hash(projectId, number)
    const encrypt = createCipheriv(cipher, this.#cipherKey, hash)
    return Buffer.concat([hash, encrypt.update(number, 'utf8'), encrypt.final()]).toString('base64url')
  }

  /** Null for what was not written here for this project. */
  read(projectId: number, name: string): string | null {
    if (!tokenPattern.test(name)) return null
    const bytes = Buffer.from(name, 'base64url')
    const hash = bytes.subarray(0, hashBytes)
    const decrypt = createDecipheriv(cipher, this.#cipherKey, hash)
    const number = Buffer.concat([decrypt.update(bytes.subarray(hashBytes)), decrypt.final()]).toString()
    return timingSafeEqual(this.#hash(projectId, number), hash) ? number : null
  }

  #hash(projectId: number, number: string): Buffer {
    return createHmac('sha256', this.#hashKey)
      .update(`${projectId}\n${number}`)
      .digest()
      .subarray(0, hashBytes)
  }
}
