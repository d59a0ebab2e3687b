import { createHmac, randomBytes } from 'node:crypto'

const secretPrefix = 'whsec_'
const secretBytes = 32

/** A random secret in the format of https://www.standardwebhooks.com. */
export function newSecret(): string {
  return `${secretPrefix}${randomBytes(secretBytes).toString('base64')}`
}

interface SignedMessage {
  /** Each adds a signature. */
  secrets: readonly string[]
  messageId: string
  body: string
  /** When this attempt is made. */
  at: number
}

/** The headers of Standard Webhooks. */
export function signedHeaders({ secrets, messageId, body, at }: SignedMessage): Record<string, string> {
  const time = String(Math.floor(at / 1_000))
  const signature = (secret: string) =>
    createHmac('sha256', Buffer.from(secret.slice(secretPrefix.length), 'base64'))
      .update(`${messageId}.${time}.${body}`)
      .digest('base64')
  return {
    'webhook-id': messageId,
    'webhook-timestamp': time,
    'webhook-signature': secrets.map((secret) => `v1,${signature(secret)}`).join(' '),
  }
}
