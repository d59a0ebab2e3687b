import { describe, expect, spyOn, test } from 'bun:test'
import { createHmac, createPrivateKey, sign } from 'node:crypto'
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'
import { sign as signForRetell } from 'retell-sdk/lib/webhook_auth'
import { Webhook } from 'standardwebhooks'
import Telnyx from 'telnyx'
import { hasSecret, isSigned, platforms } from '../../src/sources/platforms.ts'

type Name = keyof typeof platforms

const a = Buffer.from('{"event":"call_ended","call":{"call_id":"c1"}}')
const b = Buffer.from('{"text":"Grüße 👋"}')
const at = 1_700_000_000_000
const minute = 60_000
const publicKey = 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg='
const standardSecret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const vapiAt = { 'x-timestamp': '1700000000' }
const telnyxAt = { 'telnyx-timestamp': '1700000000' }
const ultravoxAt = { 'x-ultravox-webhook-timestamp': '2023-11-14T22:13:20.000Z' }
const standard = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1700000000' }

/** Each with its platform, its secret, its body, its header and what the platform sends in that and others. */
const vectors: readonly [Name, string, Buffer, string, string, Record<string, string>?][] = [
  [
    'retell',
    'key_test',
    a,
    'x-retell-signature',
    'v=1700000000000,d=83eec0c731880372ce0de004bd1ce30f8cec0c963edda918404057662d7ddbc8',
  ],
  [
    'retell',
    'key_test',
    b,
    'x-retell-signature',
    'v=1700000000000,d=3028f1950bf55da7147a1d94259c8d717a2f44b7c1ca0c5dd0c4e784191a43df',
  ],
  [
    'retell',
    'key_test',
    Buffer.alloc(0),
    'x-retell-signature',
    'v=1700000000000,d=e1d11e60dc88d2e1d150866588727558f000282e48468d71d841fbebdd30f1cc',
  ],
  [
    'elevenlabs',
    'wsec_test',
    a,
    'elevenlabs-signature',
    't=1700000000,v0=e2fc6454ecefbb4911f1a8f92b6e8a767b5e30010d326d77554d619fb4224a62',
  ],
  [
    'elevenlabs',
    'wsec_test',
    b,
    'elevenlabs-signature',
    't=1700000000,v0=4425db88e8c51ac4aef5d4b73a6eebd71df3fac007038e483734ceb3b6020e13',
  ],
  [
    'bland',
    'bland_test',
    a,
    'x-webhook-signature',
    '86ca3fc63efde61eb7f73f08e9edc4e82742f57640cc9a75b81f48af836d2238',
  ],
  [
    'bland',
    'bland_test',
    b,
    'x-webhook-signature',
    '2a39a220ae34575102344dfd15f7364351e96a24f502fecfb82ac8018d76cccd',
  ],
  [
    'vapi',
    'vapi_test',
    a,
    'x-signature',
    '7a19eaa5f13c6f55c321ca51ae760329262f7c52c260786bf83d6ae80b5c563d',
    vapiAt,
  ],
  [
    'vapi',
    'vapi_test',
    b,
    'x-signature',
    '2af92ba976659f691d3b66831af441cb11195d8b1567f565654281c8cef3cd59',
    vapiAt,
  ],
  [
    'vapi',
    'vapi_test',
    a,
    'x-signature',
    'c7d3af6a49702c4a91614b155acd99054b345e9042234cac12724ba89fcea1dd',
    { 'x-timestamp': '1700000000000' },
  ],
  ['vapi', 'vapi_test', a, 'x-signature', 'ehnqpfE8b1XDIcpRrnYDKSYvfFLCYHhr+D1q6AtcVj0=', vapiAt],
  ['vapi', 'vapi_test', a, 'x-signature', 'f4947ad7415320451634ddce381134ac333f3cb4', vapiAt],
  [
    'vapi',
    'dmFwaV90ZXN0LWtleQ==',
    a,
    'x-signature',
    '20869b09ddbe74546779733aa3184383b6b11404a2e7b68d4be2a0926d75827c',
    vapiAt,
  ],
  [
    'vapi',
    'vapi_test',
    a,
    'x-vapi-signature',
    'sha256=9b042dd0bb83f1b0112e883e36331675fe305e02656d091b99bd00938390f124',
  ],
  [
    'vapi',
    standardSecret,
    a,
    'webhook-signature',
    'v1,RnfIY16Tsmge+fkQvhfr3zXYxrpJ6mjYcdel+U1+5kk=',
    standard,
  ],
  [
    'vapi',
    standardSecret,
    b,
    'webhook-signature',
    'v1,tdEL1onsp0XgWFTIjgX9gPUPanLKsdsaO6m63hedEBY=',
    standard,
  ],
  [
    'telnyx',
    publicKey,
    a,
    'telnyx-signature-ed25519',
    '/uqQht7iqpo8xMitokoQ9A6v4Y1OQtuWLIxLbEczMhkML/AdUte58qAWo380NGZhR8HSKlDDBbKcrZ5G8wnsCQ==',
    telnyxAt,
  ],
  [
    'telnyx',
    publicKey,
    b,
    'telnyx-signature-ed25519',
    '7lzzj3KfybxKMSr0GIJm1tJBaI+3X/FR/N5NvfGafxHpocVo4tfJ2EwvsAaR0W7eayW4vKEaIHbEqYwjcqkvCg==',
    telnyxAt,
  ],
  [
    'ultravox',
    'uvx_test',
    a,
    'x-ultravox-webhook-signature',
    'f9c04fa02c4ec9872affcdfdd3e75e427a402da9332c218fef630aa6969e95a2',
    ultravoxAt,
  ],
  [
    'ultravox',
    'uvx_test',
    b,
    'x-ultravox-webhook-signature',
    '0d6137742066caaf9f5504ad058b1be84e7dc5d12a9155201ab5d0ed3638d2a4',
    ultravoxAt,
  ],
  ['synthflow', 'syn_test', a, 'synthflow-signature', '1tK/8pY1o3OotIkY0jyucXd+Us0fCObNZ0X58FM+jJw='],
]

function isFrom(
  name: Name,
  body: Uint8Array,
  headers: Record<string, string>,
  secrets: string[],
  now = at,
): boolean {
  const request = { headers: new Headers(headers), body, now }
  return hasSecret(platforms[name], request.headers, secrets) || isSigned(platforms[name], request, secrets)
}

describe.each(vectors)('%s, %s', (name, secret, body, header, signature, others = {}) => {
  const headers = { ...others, [header]: signature }

  test('the documented signature is genuine, also by the secret before the present one', () => {
    expect(isFrom(name, body, headers, [secret])).toBe(true)
    expect(isFrom(name, body, headers, ['another', secret])).toBe(true)
  })

  test('another secret, body, signature or header is not', () => {
    expect(isFrom(name, body, headers, ['another'])).toBe(false)
    expect(isFrom(name, body, headers, [''])).toBe(false)
    expect(isFrom(name, body, headers, [])).toBe(false)
    // Synthflow signs no more of a body than the call's id.
    const changed = Buffer.from(body.length === 0 ? ' ' : String(body).replace(/c1|Gr/, 'c2'))
    expect(isFrom(name, changed, headers, [secret])).toBe(false)
    const last = signature.at(-2) === '0' ? '1' : '0'
    for (const bad of [
      `${signature.slice(0, -2)}${last}${signature.at(-1)}`,
      signature.slice(0, -2),
      `${signature}0`,
      '',
      ' ',
    ])
      expect(isFrom(name, body, { ...headers, [header]: bad }, [secret])).toBe(false)
    expect(isFrom(name, body, others, [secret])).toBe(false)
    for (const other of Object.keys(others)) {
      expect(isFrom(name, body, { ...headers, [other]: '' }, [secret])).toBe(false)
      expect(isFrom(name, body, { ...headers, [other]: 'x' }, [secret])).toBe(false)
    }
  })
})

test.each([
  ['retell', 5, 5],
  ['elevenlabs', 60, 5],
  ['telnyx', 5, 5],
  ['ultravox', 720, 1],
  ['vapi', 5, 5],
] as const)(
  '%s: an event is taken up to %d minutes old and %d ahead, and no further',
  (name, past, future) => {
    const of = vectors.filter(
      ([platform, , , , , others = {}]) =>
        platform === name && (name !== 'vapi' || 'x-timestamp' in others || 'webhook-id' in others),
    )
    expect(of.length).toBeGreaterThan(0)
    for (const [, secret, body, header, signature, others] of of) {
      const isTaken = (now: number) => isFrom(name, body, { ...others, [header]: signature }, [secret], now)
      expect([isTaken(at + past * minute), isTaken(at + past * minute + 1)]).toEqual([true, false])
      expect([isTaken(at - future * minute), isTaken(at - future * minute - 1)]).toEqual([true, false])
    }
  },
)

test('what the packages of the platforms sign is genuine, and what is genuine they accept', async () => {
  const text = String(b)
  const now = Date.now()
  const retell = { 'x-retell-signature': await signForRetell(text, 'key_test') }
  expect(isFrom('retell', b, retell, ['key_test'], now)).toBe(true)

  const webhook = new Webhook(standardSecret)
  const signature = webhook.sign('msg_1', new Date(at), text)
  expect(isFrom('vapi', b, { ...standard, 'webhook-signature': signature }, [standardSecret])).toBe(true)

  const seconds = Math.floor(now / 1_000)
  const digest = createHmac('sha256', 'wsec_test').update(`${seconds}.${text}`).digest('hex')
  const sent = `t=${seconds},v0=${digest}`
  const elevenlabs = new ElevenLabsClient({ apiKey: 'none' })
  expect(await elevenlabs.webhooks.constructEvent(text, sent, 'wsec_test')).toEqual(JSON.parse(text))
  expect(isFrom('elevenlabs', b, { 'elevenlabs-signature': sent }, ['wsec_test'], now)).toBe(true)

  const seed = Buffer.from([...Array(32).keys()])
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const headers = {
    'telnyx-timestamp': `${seconds}`,
    'telnyx-signature-ed25519': sign(null, Buffer.from(`${seconds}|${text}`), key).toString('base64'),
  }
  const telnyx = new Telnyx({ apiKey: 'none', publicKey })
  expect(await telnyx.webhooks.unwrap(text, { headers })).toMatchObject(JSON.parse(text))
  expect(isFrom('telnyx', b, headers, [publicKey], now)).toBe(true)
})

test('a secret in a header is genuine as it is, and in no other header', () => {
  const bearer = { authorization: 'Bearer s3cret' }
  expect(isFrom('vapi', a, bearer, ['s3cret'])).toBe(true)
  expect(isFrom('vapi', a, { authorization: 's3cret' }, ['s3cret'])).toBe(true)
  expect(isFrom('vapi', a, { 'x-vapi-secret': 's3cret' }, ['s3cret'])).toBe(true)
  expect(isFrom('dograh', a, bearer, ['s3cret'])).toBe(true)
  expect(isFrom('cartesia', a, { 'x-webhook-secret': 's3cret' }, ['s3cret'])).toBe(true)
  for (const name of ['vapi', 'dograh', 'cartesia'] as const) {
    expect(isFrom(name, a, {}, ['s3cret'])).toBe(false)
    expect(
      isFrom(name, a, { authorization: 'Bearer s3cre', 'x-webhook-secret': 's3cret2' }, ['s3cret']),
    ).toBe(false)
    expect(isFrom(name, a, { authorization: 'Bearer ', 'x-webhook-secret': '' }, [''])).toBe(false)
  }
  expect(isFrom('retell', a, bearer, ['s3cret'])).toBe(false)
})

test('Bland: a body that was signed as written again is genuine', () => {
  const spaced = Buffer.from('{ "event": "call_ended", "call": { "call_id": "c1" } }')
  const signature = '86ca3fc63efde61eb7f73f08e9edc4e82742f57640cc9a75b81f48af836d2238'
  expect(isFrom('bland', spaced, { 'x-webhook-signature': signature }, ['bland_test'])).toBe(true)
})

test('Ultravox: one of several signatures is enough', () => {
  const signature = `${'0'.repeat(64)},f9c04fa02c4ec9872affcdfdd3e75e427a402da9332c218fef630aa6969e95a2`
  expect(
    isFrom('ultravox', a, { ...ultravoxAt, 'x-ultravox-webhook-signature': signature }, ['uvx_test']),
  ).toBe(true)
})

describe('of many signatures in one request', () => {
  const bad64 = Buffer.alloc(32).toString('base64')
  const others: Record<'vapi' | 'ultravox', [string, (others: number) => Record<string, string>]> = {
    vapi: [
      standardSecret,
      (n) => {
        const genuine = 'v1,RnfIY16Tsmge+fkQvhfr3zXYxrpJ6mjYcdel+U1+5kk='
        return { ...standard, 'webhook-signature': `${`v1,${bad64} `.repeat(n)}${genuine}` }
      },
    ],
    ultravox: [
      'uvx_test',
      (n) => {
        const genuine = 'f9c04fa02c4ec9872affcdfdd3e75e427a402da9332c218fef630aa6969e95a2'
        return {
          ...ultravoxAt,
          'x-ultravox-webhook-signature': `${`${'0'.repeat(64)},`.repeat(n)}${genuine}`,
        }
      },
    ],
  }

  test.each(['vapi', 'ultravox'] as const)('%s: the first ten are compared', (name) => {
    const [secret, headersWith] = others[name]
    expect(isFrom(name, a, headersWith(9), [secret])).toBe(true)
    expect(isFrom(name, a, headersWith(10), [secret])).toBe(false)
  })

  test.each(['vapi', 'ultravox'] as const)(
    '%s: the body is hashed once for each secret, however many there are',
    (name) => {
      const [secret, headersWith] = others[name]
      const update = spyOn(Object.getPrototypeOf(createHmac('sha256', '')), 'update')
      const body = Buffer.alloc(1_000)
      isFrom(name, body, headersWith(300), [secret, 'b3RoZXI='])
      const hashed = update.mock.calls.filter(([part]) => part === body)
      update.mockRestore()
      expect(hashed).toHaveLength(2)
    },
  )
})
