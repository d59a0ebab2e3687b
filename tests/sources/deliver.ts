import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { sign as signForRetell } from 'retell-sdk/lib/webhook_auth'
import { Webhook } from 'standardwebhooks'
import type { WebhookPlatform } from '../../src/sources/catalog.ts'
import type { TestProject, TestService } from '../support/service.ts'

type Headers = Record<string, string>
type Sign = (body: string, secret: string, now: number) => Headers | Promise<Headers>

function hmac(secret: string, text: string, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHmac('sha256', secret).update(text).digest(encoding)
}

/** How each platform signs, by its own package where there is one. */
const signers: Record<WebhookPlatform, Sign> = {
  vapi: (body, secret, now) => {
    // The secret as a platform keeps it for Standard Webhooks: the base64 of its bytes.
    const at = new Date(now)
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    }
  },
  retell: async (body, secret) => ({ 'x-retell-signature': await signForRetell(body, secret) }),
  elevenlabs: (body, secret, now) => {
    const seconds = Math.floor(now / 1_000)
    return { 'elevenlabs-signature': `t=${seconds},v0=${hmac(secret, `${seconds}.${body}`)}` }
  },
  bland: (body, secret) => ({ 'x-webhook-signature': hmac(secret, body) }),
  telnyx: (body, _, now) => {
    const seconds = Math.floor(now / 1_000)
    const signature = sign(null, Buffer.from(`${seconds}|${body}`), telnyxKey)
    return { 'telnyx-timestamp': String(seconds), 'telnyx-signature-ed25519': signature.toString('base64') }
  },
  ultravox: (body, secret, now) => {
    const time = new Date(now).toISOString()
    return { 'x-ultravox-webhook-timestamp': time, 'x-ultravox-webhook-signature': hmac(secret, body + time) }
  },
  synthflow: (body, secret) => {
    const { call } = JSON.parse(body)
    return { 'synthflow-signature': hmac(secret, call?.call_id ?? '', 'base64') }
  },
  cartesia: (_, secret) => ({ 'x-webhook-secret': secret }),
  dograh: (_, secret) => ({ authorization: `Bearer ${secret}` }),
}

const pair = generateKeyPairSync('ed25519')
const telnyxKey = createPrivateKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
/** The account's public key, in Telnyx's form. */
const telnyxPublicKey = Buffer.from(
  createPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' })).export({ format: 'jwk' }).x ?? '',
  'base64url',
).toString('base64')

/** The secrets of platforms that make them themselves. */
const given: Partial<Record<WebhookPlatform, string>> = {
  retell: 'key_of_the_account',
  elevenlabs: 'wsec_of_the_account',
  bland: 'bland_of_the_account',
  telnyx: telnyxPublicKey,
  synthflow: 'synthflow_of_the_account',
  cartesia: 'cartesia_of_the_account',
}

/** A source of a project, and the platform that sends to it. */
export interface TestSource {
  id: string
  secret: string
  path: string
  /** Signs and sends an event, given as an object or as the text of the body. */
  send(event: object | string, options?: { secret?: string; headers?: Headers }): Promise<Response>
}

export async function addSource(
  { url, services }: TestService,
  { projectId }: Pick<TestProject, 'projectId'>,
  platform: WebhookPlatform,
  options: Record<string, string> = platform === 'telnyx' ? { summaryInsight: 'i-2' } : {},
): Promise<TestSource> {
  const secret = given[platform]
  const made = await services.sources.create(projectId, { platform, secret, options })
  const present = secret ?? made.secret ?? ''
  const path = `/ingest/from/${made.id}`
  return {
    id: made.id,
    secret: present,
    path,
    async send(event, { secret = present, headers } = {}) {
      const body = typeof event === 'string' ? event : JSON.stringify(event)
      const signed = headers ?? (await signers[platform](body, secret, Date.now()))
      const type = { 'content-type': 'application/json' }
      return await fetch(url + path, { method: 'POST', headers: { ...type, ...signed }, body })
    },
  }
}
