import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a link opens: one recording, for as long as the key that made it is valid. */
export interface Link {
  /** The recording's file, since a recording that is replaced has another one. */
  file: string
  keyId: string
  expiresAt: number
}

const macChars = 43

/** Makes and reads the tokens of links. They need no row: all that they say is in them, signed. */
export class LinkTokens {
  readonly #secret: string

  /** @param secret of this database */
  constructor(secret: string) {
    this.#secret = secret
  }

  make({ file, keyId, expiresAt }: Link): string {
    const text = Buffer.from(JSON.stringify([file, keyId, expiresAt])).toString('base64url')
    return text + this.#macOf(text)
  }

  /** Null for a token that was not made here. */
  read(token: string): Link | null {
    const text = token.slice(0, -macChars)
    const [mac, expectedMac] = [Buffer.from(token.slice(-macChars)), Buffer.from(this.#macOf(text))]
    if (mac.length !== expectedMac.length || !timingSafeEqual(mac, expectedMac)) return null
    const [file, keyId, expiresAt] = JSON.parse(Buffer.from(text, 'base64url').toString())
    return { file, keyId, expiresAt }
  }

  #macOf(text: string): string {
    return createHmac('sha256', this.#secret).update(`recording link\n${text}`).digest('base64url')
  }
}
