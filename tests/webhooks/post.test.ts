import { describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { compileIpRules } from '../../src/access/keys/ip-rules.ts'
import { Addresses } from '../../src/webhooks/addresses.ts'
import { Poster } from '../../src/webhooks/post.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

type Resolve = NonNullable<ConstructorParameters<typeof Addresses>[0]['resolve']>
const listed = compileIpRules(['127.0.0.1'])
const receiver = await startReceiver()

interface PostTo {
  answer?: (response: ServerResponse) => void
  url?: string
  resolve?: Resolve
  timeoutMs?: number
}

async function postTo({ answer, url = receiver.url, resolve, timeoutMs = 5_000 }: PostTo) {
  if (answer) receiver.answer = (_, response) => answer(response)
  const addresses = new Addresses({ allowList: listed, ...(resolve ? { resolve } : {}) })
  const signal = new AbortController().signal
  return await new Poster({ addresses, timeoutMs }).post(new URL(url), { body: '{}', headers: {}, signal })
}

describe('an answer', () => {
  test('of 2xx is a success, whatever its body', async () => {
    expect(await postTo({ answer: (response) => response.writeHead(201).end('hello') })).toMatchObject({
      status: 201,
      error: null,
    })
  })

  test('that redirects is not followed', async () => {
    const before = receiver.received.length
    const answer = (response: ServerResponse) => response.writeHead(307, { location: '/elsewhere' }).end()
    expect(await postTo({ answer })).toMatchObject({ status: 307 })
    expect(receiver.received).toHaveLength(before + 1)
  })

  test('without an end is read up to 64 KiB', async () => {
    let sent = 0
    const answer = (response: ServerResponse) => {
      const more = () => {
        while (!response.destroyed && sent < 1e9) {
          sent += 65_536
          if (!response.write('x'.repeat(65_536))) return
        }
      }
      response.writeHead(200).on('drain', more)
      more()
    }
    expect(await postTo({ answer })).toMatchObject({ status: 200, error: null })
    await until(() => receiver.open() === 0)
    expect(sent).toBeLessThan(2e7)
  })

  test('whose body hangs counts by its status once the time is over', async () => {
    const answer = (response: ServerResponse) => void response.writeHead(200).write('x')
    expect(await postTo({ answer, timeoutMs: 200 })).toMatchObject({ status: 200, error: null })
    await until(() => receiver.open() === 0)
  })

  test('that does not come within the time is a failure, and its connection is closed', async () => {
    expect(await postTo({ answer: () => undefined, timeoutMs: 200 })).toMatchObject({
      status: null,
      error: 'No answer within 0.2 s',
    })
    await until(() => receiver.open() === 0)
  })

  test('after endless ones of 1xx is not waited for', async () => {
    const answer = ({ socket }: ServerResponse) =>
      void socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000))
    expect(await postTo({ answer })).toMatchObject({ status: null, error: 'More than 20 answers of 1xx' })
    await until(() => receiver.open() === 0)
  })

  test('that is cut off is a failure', async () => {
    const { status, error } = await postTo({ answer: (response) => response.socket?.destroy() })
    expect([status, error]).toEqual([null, expect.any(String)])
  })
})

describe('the address of a connection', () => {
  const port = () => new URL(receiver.url).port

  test('is the checked one, also when DNS changes its mind', async () => {
    const answers = ['203.0.113.9', '10.0.0.1', '127.0.0.1']
    const resolve: Resolve = async () => [{ address: answers.shift() ?? '', family: 4 }]
    const url = `http://rebinding.example:${port()}/`
    const answer = (response: ServerResponse) => response.writeHead(204).end()
    for (const address of ['203.0.113.9', '10.0.0.1']) {
      const result = await postTo({ url, resolve, answer })
      expect(result).toMatchObject({ status: null, error: 'The address is not public' })
      expect(JSON.stringify(result)).not.toContain(address)
    }
    expect(await postTo({ url, resolve, answer })).toMatchObject({ status: 204 })
    expect(receiver.received.at(-1)?.headers.host).toBe(`rebinding.example:${port()}`)
  })

  test('is one that may be used, where a host has several', async () => {
    const resolve: Resolve = async () => [
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const answer = (response: ServerResponse) => response.writeHead(204).end()
    expect(await postTo({ url: `http://several.example:${port()}/`, resolve, answer })).toMatchObject({
      status: 204,
    })
  })

  test('that the URL names is checked without a look-up', async () => {
    for (const host of ['10.0.0.1', '[::1]', '0x7f000002', '[::ffff:10.0.0.1]']) {
      const { status, error } = await postTo({ url: `https://${host}:${port()}/` })
      expect([host, status, error]).toEqual([host, null, expect.stringContaining('is not public')])
    }
  })

  test('of a proxy in the environment is not used', async () => {
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'ALL_PROXY']
    const before = names.map((name) => [name, process.env[name]] as const)
    for (const name of names) process.env[name] = 'http://127.0.0.1:1'
    try {
      const answer = (response: ServerResponse) => response.writeHead(204).end()
      expect(await postTo({ answer })).toMatchObject({ status: 204 })
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
  })
})

describe('the address of a new webhook', () => {
  const none: Resolve = async () => {
    throw new Error('unknown')
  }
  const problemOf = (url: string, resolve = none) =>
    new Addresses({ allowList: listed, resolve }).problemOf(url)

  test('is public and by https, or listed', async () => {
    expect(await problemOf('https://example.com/hook')).toBeNull()
    expect(await problemOf('https://8.8.8.8/')).toBeNull()
    expect(await problemOf('https://[2606:4700::1111]/')).toBeNull()
    expect(await problemOf('http://127.0.0.1:8080/')).toBeNull()
    expect(
      await problemOf('https://public.example/', async () => [{ address: '8.8.8.8', family: 4 }]),
    ).toBeNull()
  })

  test.each([
    'http://example.com/',
    'http://8.8.8.8/',
    'https://127.0.0.2/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://2130706434/',
    'https://0177.0.0.2/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.2]/',
    'https://[::10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://[fd00::1]/',
    // Metadata and wire servers of clouds.
    'https://168.63.129.16/',
    'https://[::ffff:168.63.129.16]/',
    'https://100.100.100.200/',
    'https://192.0.0.192/',
    'https://161.26.0.10/',
    'https://166.9.14.170/',
    'https://[fd00:ec2::254]/',
    'https://[fd20:ce::254]/',
    // IPv4 within IPv6.
    'https://[64:ff9b:1::a00:1]/',
    'https://[2001:0:a00:1::]/',
    'https://[::ffff:0:10.0.0.1]/',
    'https://0.0.0.0/',
    'https://user:pass@example.com/',
    'ftp://example.com/',
    'example.com',
    'https://example.com/#part',
    '',
  ])('is not %s', async (url) => {
    expect(await problemOf(url)).toEqual(expect.any(String))
  })

  test('is refused when its name leads to a private address alone, which is not named', async () => {
    const resolve: Resolve = async () => [{ address: '10.0.0.7', family: 4 }]
    const problem = await problemOf('https://internal.example/', resolve)
    expect(problem).toStartWith('must lead to a public address')
    expect(problem).not.toContain('10.0.0.7')
  })
})

describe('a connection', () => {
  const addresses = new Addresses({ allowList: listed })
  const send = (poster: Poster) =>
    poster.post(new URL(receiver.url), { body: '{}', headers: {}, signal: new AbortController().signal })

  test('is kept for the next request', async () => {
    const poster = new Poster({ addresses })
    const sockets = new Set<unknown>()
    receiver.answer = (_, response) => {
      sockets.add(response.socket)
      response.writeHead(204).end()
    }
    for (let at = 0; at < 3; at++) expect(await send(poster)).toMatchObject({ status: 204 })
    expect(sockets.size).toBe(1)
    poster.close()
  })

  test('that was kept and ends without an answer is replaced by another', async () => {
    const poster = new Poster({ addresses })
    const sockets = new Set<unknown>()
    receiver.answer = (_, response) => {
      if (sockets.has(response.socket)) return void response.socket?.destroy()
      sockets.add(response.socket)
      response.writeHead(204).end()
    }
    expect(await send(poster)).toMatchObject({ status: 204 })
    expect(await send(poster)).toMatchObject({ status: 204 })
    expect(sockets.size).toBe(2)
    poster.close()
  })

  test('that is new and ends without an answer is a failure', async () => {
    const before = receiver.received.length
    receiver.answer = (_, response) => void response.socket?.destroy()
    expect(await send(new Poster({ addresses }))).toMatchObject({ status: null })
    expect(receiver.received).toHaveLength(before + 1)
  })
})
