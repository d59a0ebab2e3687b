import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

const secretBytes = 32

/** `whsec_` and base64, as https://www.standardwebhooks.com has it. */
export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`
}

interface SignedMessage {
  /** One signature each. */
  secrets: readonly string[]
  messageId: string
  body: string
  /** Of this try, milliseconds since 1970. */
  at: number
}

/** The headers of Standard Webhooks. */
export function signedHeaders({ secrets, messageId, body, at }: SignedMessage): Record<string, string> {
  const time = new Date(at)
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, time, body)).join(' '),
  }
}
