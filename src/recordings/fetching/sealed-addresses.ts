import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

const nonceBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

/** Encrypts addresses that carry a key, as long as they wait in the queue. */
export class SealedAddresses {
  readonly #key: Buffer

  /** @param secret of this database */
  constructor(secret: string) {
    this.#key = createHmac('sha256', secret).update('addresses of recordings').digest()
  }

  seal(address: string): Buffer {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.#key, nonce)
    const encrypted = Buffer.concat([cipher.update(address, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
  }

  open(sealed: Uint8Array): string {
    const nonce = sealed.subarray(0, nonceBytes)
    const decipher = createDecipheriv(algorithm, this.#key, nonce)
    decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
    const address = decipher.update(sealed.subarray(nonceBytes + tagBytes))
    return Buffer.concat([address, decipher.final()]).toString()
  }
}

/**
 * When a presigned address expires, in milliseconds since 1970; null if it does not say. The parameters are those of
 * Amazon's Signature Version 4, which others take over: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function expiryOf(address: string): number | null {
  const query = new URL(address).searchParams
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '') ?? []
  const [year = 0, month = 0, day, hour, minute, second] = parts.map(Number)
  const expiry =
    Date.UTC(year, month - 1, day, hour, minute, second) + Number(query.get('X-Amz-Expires')) * 1_000
  return parts.length > 0 && Number.isFinite(expiry) ? expiry : null
}
