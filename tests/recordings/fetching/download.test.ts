import { expect, test } from 'bun:test'
import { download } from '../../../src/recordings/fetching/download.ts'
import { failureOf, nextAttempt } from '../../../src/recordings/fetching/failure.ts'
import { expiryOf, SealedAddresses } from '../../../src/recordings/fetching/sealed-addresses.ts'
import { Addresses } from '../../../src/webhooks/addresses.ts'
import { madeWav } from '../../support/recordings.ts'
import { bytes, redirect, stalled, startStorage } from './fake-storage.ts'

const wav = madeWav()
const names = new Map([
  ['storage.test', '127.0.0.1'],
  ['inside.test', '10.1.2.3'],
  ['rebound.test', '169.254.169.254'],
])
const guard = new Addresses({
  allowList: { allows: (address) => address === '127.0.0.1' },
  resolve: async (host) => [{ address: names.get(host) ?? host, family: 4 }],
})
const storage = await startStorage()

async function read(
  url: string,
  { headers = {}, signal = new AbortController().signal } = {},
): Promise<Buffer> {
  const answer = await download({ url, headers }, { guard, signal, idleMs: 300, now: () => 0 })
  return Buffer.concat(await Array.fromAsync(answer.parts))
}

test('one that sends nothing for a while is given up, with or without a beginning', async () => {
  storage.answer('/silent', () => undefined)
  storage.answer('/stalled', stalled(wav))
  await expect(read(`${storage.origin}/silent`)).rejects.toThrow('127.0.0.1: No answer within 0.3 s.')
  await expect(read(`${storage.origin}/stalled`)).rejects.toThrow('broke off before the recording was whole')
})

test('one that is slow but goes on is read to the end', async () => {
  storage.answer('/slow', async (response) => {
    response.writeHead(200, { 'content-length': wav.length })
    for (let at = 0; at < wav.length; at += 16_000) {
      response.write(wav.subarray(at, at + 16_000))
      await Bun.sleep(150)
    }
    response.end()
  })
  expect(await read(`${storage.origin}/slow`)).toEqual(wav)
})

test('a key goes to its own host alone, also after a redirect and back', async () => {
  const other = await startStorage()
  storage.answer('/start', redirect('/own'))
  storage.answer('/own', redirect(`${other.origin}/away`))
  other.answer('/away', bytes(wav))
  expect(await read(`${storage.origin}/start`, { headers: { authorization: 'Bearer secret' } })).toEqual(wav)
  expect(storage.requests('/own')[0]?.headers.authorization).toBe('Bearer secret')
  expect(other.requests('/away')[0]?.headers.authorization).toBeUndefined()
  await other.close()
})

test.each(['inside.test', 'rebound.test'])('the name %s, which leads inside, is refused', async (host) => {
  storage.answer('/inside', redirect(`https://${host}/latest/meta-data`))
  const failure = await read(`${storage.origin}/inside`).catch((error) => error)
  expect(failure).toMatchObject({
    patience: 'none',
    message: 'The address is not public, so nothing is fetched from it.',
  })
})

test('an abort ends it at once', async () => {
  const aborting = new AbortController()
  const reading = read(`${storage.origin}/stalled`, { signal: aborting.signal })
  setTimeout(() => aborting.abort(), 20)
  await expect(reading).rejects.toThrow()
})

test('attempts are further and further apart, and the last one is at the end', () => {
  const failure = failureOf(404, { who: 'Vapi', hasKey: true, waitMs: 0 })
  const waits: number[] = []
  let [now, attempts]: [number | null, number] = [0, 0]
  for (;;) {
    const next: number | null = nextAttempt(failure, { since: 0, attempts: attempts++, now: now ?? 0 })
    if (next === null) break
    waits.push((next - (now ?? 0)) / 1_000)
    now = next
  }
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900, 855])
  expect(now).toBe(3_600_000)
})

test('Retry-After is kept to, but not for longer than a day', () => {
  const failure = (waitMs: number) => failureOf(503, { who: 'Vapi', hasKey: true, waitMs })
  expect(nextAttempt(failure(600_000), { since: 0, attempts: 0, now: 0 })).toBe(600_000)
  expect(nextAttempt(failure(1e12), { since: 0, attempts: 0, now: 0 })).toBe(86_400_000)
})

test('when a presigned address expires', () => {
  const signed = 'https://bucket.s3.amazonaws.com/a.wav?X-Amz-Date=20260131T093000Z&X-Amz-Expires=600'
  expect(expiryOf(signed)).toBe(Date.UTC(2026, 0, 31, 9, 40))
  expect(expiryOf('https://example.com/a.wav')).toBeNull()
  expect(expiryOf('https://example.com/a.wav?X-Amz-Date=soon&X-Amz-Expires=never')).toBeNull()
})

test('an address is encrypted differently each time, and opens only as it is', () => {
  const addresses = new SealedAddresses('secret')
  const [one, two] = [addresses.seal('https://example.com/ü'), addresses.seal('https://example.com/ü')]
  expect(one).not.toEqual(two)
  expect(addresses.open(one)).toBe('https://example.com/ü')
  one.writeUInt8(one.readUInt8(30) ^ 1, 30)
  expect(() => addresses.open(one)).toThrow()
  expect(() => new SealedAddresses('other').open(two)).toThrow()
})
