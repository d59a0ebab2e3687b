import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { addSource, type TestSource } from '../sources/deliver.ts'
import { startConsole } from '../support/console.ts'
import { head, opened, rawRequest } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const strangersMax = 400
const strangersOfNetworkMax = 20
const unverifiedOfSourceMax = 200
const service = await startService({ env: { TRUSTED_PROXIES: '127.0.0.1' } })
const set = await startConsole(service)
const project = await set.mintProject()

/** A sign-in of a stranger at this address, of which one byte of the body is there. */
async function holdOn(address: string): Promise<{ socket: Socket; received: () => string }> {
  const headers = { ...signInHeaders(address), 'Content-Length': '16000' }
  return opened(service.url, `${head('POST /console/api/session HTTP/1.1', headers)}{`)
}

function signInHeaders(address: string): Record<string, string> {
  return { Origin: 'http://localhost', 'X-Forwarded-For': address, 'Content-Type': 'application/json' }
}

/** Whether a whole sign-in from this address is taken on, and refused for what it says alone. */
async function isTakenFrom(address: string): Promise<boolean> {
  const body = JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password: 'not the password' })
  const headers = { ...signInHeaders(address), 'Content-Length': String(body.length) }
  const text = head('POST /console/api/session HTTP/1.1', headers) + body
  const { status } = await rawRequest(service.url, text, { waitMs: 10_000 })
  // One network may try only a few times a minute.
  expect([401, 429, 503]).toContain(status ?? 0)
  return status !== 503
}

async function whileHeldOn(addresses: string[], check: () => Promise<void>): Promise<void> {
  const held = await Promise.all(addresses.map(holdOn))
  try {
    await check()
  } finally {
    for (const { socket } of held) socket.destroy()
  }
}

const ofNetwork = (network: number, hosts: number) =>
  Array.from({ length: hosts }, (_, host) => `2001:db8:0:${network.toString(16)}::${(host + 1).toString(16)}`)

test('slow bodies of unauthenticated clients do not keep out people with a key or a session', async () => {
  const addresses = Array.from({ length: 4_100 }, (_, n) => `198.18.${n >> 8}.${n & 255}`)
  await whileHeldOn(addresses, async () => {
    await until(async () => !(await isTakenFrom('203.0.113.1')), 'Filling the places')
    for (let round = 0; round < 5; round++) {
      const written = await project.send('PUT', `/ingest/calls/c-${round}`, { summary: 'one' })
      const found = await project.send('POST', '/v1/knowledge/search', { query: 'one' })
      const protocol = await project.send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })
      const renamed = await set.owner.send('PATCH', '/person', { name: `Owner ${round}` })
      // Anybody may send this, but who is signed in is no stranger.
      const checked = await set.owner.send('POST', '/links/check', { token: 'x' })
      const statuses = [written, found, protocol, renamed, checked].map(({ status }) => status)
      expect(statuses).toEqual([201, 200, 200, 200, 404])
    }
  })
  await until(() => isTakenFrom('203.0.113.2'), 'Signing in')
})

test('one unauthenticated network does not keep out others, and can send again later', async () => {
  await whileHeldOn(ofNetwork(1, strangersOfNetworkMax), async () => {
    await until(async () => !(await isTakenFrom('2001:db8:0:1::ffff')), 'Filling the places')
    expect(await isTakenFrom('2001:db8:0:2::1')).toBe(true)
  })
  await until(() => isTakenFrom('2001:db8:0:1::ffff'), 'Signing in')
})

test('beyond the limit for unauthenticated requests the next one is 503, from any network', async () => {
  const networks = strangersMax / strangersOfNetworkMax
  const addresses = Array.from({ length: networks }, (_, n) =>
    ofNetwork(16 + n, strangersOfNetworkMax),
  ).flat()
  await whileHeldOn(addresses, () =>
    until(async () => !(await isTakenFrom('2001:db8:0:ff::1')), 'Filling the places'),
  )
  await until(() => isTakenFrom('2001:db8:0:ff::1'), 'Signing in')
})

test('an unauthenticated request has five seconds to send its body', async () => {
  const { socket, received } = await holdOn('203.0.113.7')
  await until(async () => received().includes('}'), 'An answer')
  expect(received()).toStartWith('HTTP/1.1 400 ')
  expect(received()).toContain('must arrive within 5 seconds')
  socket.destroy()
})

/** Requests to a source of which one byte of the body is there, so that nobody can tell who sends them. */
async function holdAt({ path }: TestSource, count: number): Promise<{ socket: Socket }[]> {
  const text = `${head(`POST ${path} HTTP/1.1`, { 'Content-Length': '16000' })}{`
  return await Promise.all(Array.from({ length: count }, () => opened(service.url, text)))
}

test('requests that a source has not verified yet keep out no more than others of that source', async () => {
  const flooded = await addSource(service, project, 'vapi')
  const other = await addSource(service, project, 'elevenlabs')
  let held = await holdAt(flooded, unverifiedOfSourceMax)
  // Their bodies have five seconds, so on a slow machine they are sent again.
  await until(async () => {
    const { status } = await flooded.send({ message: {} })
    expect([200, 503]).toContain(status)
    if (status === 503) return true
    for (const { socket } of held) socket.destroy()
    held = await holdAt(flooded, unverifiedOfSourceMax + 20)
    return false
  }, 'Filling the places')
  const headers = { authorization: `Bearer ${flooded.secret}` }
  const written = await project.send('PUT', '/ingest/calls/beside', { summary: 'one' })
  const statuses = [
    (await flooded.send({ message: {} }, { headers })).status,
    (await other.send({ data: {} })).status,
    written.status,
  ]
  expect(statuses).toEqual([200, 200, 201])
  expect(await isTakenFrom('203.0.113.9')).toBe(true)
  for (const { socket } of held) socket.destroy()
  await until(async () => (await flooded.send({ message: {} })).status === 200, 'Sending events')
})

test("a platform's own burst of events from one address gets through", async () => {
  const source = await addSource(service, project, 'vapi')
  const events = Array.from({ length: unverifiedOfSourceMax }, () => source.send({ message: {} }))
  const statuses = (await Promise.all(events)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
})
