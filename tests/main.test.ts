import { describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'libsql'
import { freshFolder } from './support/at-end.ts'
import { childrenOf } from './support/process.ts'
import { printed, type SpawnedService, spawnService } from './support/spawned.ts'

function start(dataDir: string, env: Record<string, string> = {}): Promise<SpawnedService> {
  return spawnService({ DATA_DIR: dataDir, LOG_FORMAT: 'json', ...env })
}

function get(service: SpawnedService, path: string, key = service.key): Promise<Response> {
  return fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })
}

async function ready(service: SpawnedService): Promise<void> {
  await printed(service.stderr, /"msg":"ready"/)
}

describe('the first start', () => {
  test('prints the address, the documentation, the project, a key and the console link, and the key works', async () => {
    const service = await start(freshFolder())
    expect(service.stdout()).toMatch(/Callbook +http:\/\/127\.0\.0\.1:\d+\n/)
    expect(service.stdout()).toContain(`Docs        ${service.url}/docs\n`)
    expect(service.stdout()).toMatch(/Project +default\n/)
    expect(service.stdout()).toMatch(/API key +ck_live_[0-9a-f]{60}\n/)
    expect(service.stdout()).toMatch(/Console +http:\/\/127\.0\.0\.1:\d+\/console\/setup#[\w-]{32}\n/)
    expect(service.stdout().split(service.key)).toHaveLength(2)
    await ready(service)
    expect((await get(service, '/v1/calls')).status).toBe(200)
    expect((await get(service, '/ready')).status).toBe(200)
    expect((await get(service, '/console/setup')).status).toBe(200)
    expect(await service.stop()).toBe(0)
    expect(service.stderr()).not.toContain(service.key)
    expect(service.stderr()).not.toContain(/setup#([\w-]{32})/.exec(service.stdout())?.[1] ?? 'none')
  })

  test('is the only one that shows the key, which still works after the next start', async () => {
    const dataDir = freshFolder()
    const first = await start(dataDir)
    await first.stop()
    const second = await start(dataDir)
    expect(second.stdout()).not.toMatch(/ck_live_|API key|setup|Project/)
    expect(second.stdout()).toContain(`Console     ${second.url}/console\n`)
    expect((await get(second, '/v1/calls', first.key)).status).toBe(200)
    await second.stop()
  })

  test("accepts special characters in the folder's name, and leaves a folder with a similar name alone", async () => {
    const parent = freshFolder()
    mkdirSync(join(parent, '100 % a b'))
    const dataDir = join(parent, '100 % a%20b', '#1?x=ü')
    const service = await start(dataDir)
    await ready(service)
    expect((await get(service, '/v1/calls')).status).toBe(200)
    await service.stop()
    expect(statSync(join(dataDir, 'callbook.db')).size).toBeGreaterThan(0)
    expect(readdirSync(parent)).toEqual(expect.arrayContaining(['100 % a b', '100 % a%20b']))
    expect([readdirSync(parent).length, readdirSync(join(parent, '100 % a b'))]).toEqual([2, []])
  })

  test('makes everything it writes readable by its own user only', async () => {
    const dataDir = join(freshFolder(), 'made', 'by', 'the', 'service')
    const service = await start(dataDir)
    await ready(service)
    const answer = await fetch(`${service.url}/v1/knowledge`, {
      method: 'POST',
      body: '{"name":"n","text":"some words"}',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    })
    expect(answer.status).toBe(201)
    await service.stop()
    const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    const modes = entries.map((entry) => {
      const mode = (statSync(join(entry.parentPath, entry.name)).mode & 0o777).toString(8)
      return `${entry.isFile() ? 'file' : 'folder'} ${mode}`
    })
    expect(new Set(modes)).toEqual(new Set(['file 600', 'folder 700']))
    expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('700')
    expect(entries.filter((entry) => entry.isFile()).length).toBeGreaterThan(2)
  })

  test('of several processes at once on one fresh folder: one prints a key, none crashes, all serve it', async () => {
    const dataDir = freshFolder()
    const services = await Promise.all(Array.from({ length: 4 }, () => start(dataDir)))
    expect(services.map(({ url }) => url).every((url) => url !== '')).toBe(true)
    const keys = services.map(({ key }) => key).filter((key) => key !== '')
    expect(keys).toHaveLength(1)
    for (const service of services) {
      await ready(service)
      expect((await get(service, '/v1/calls', keys[0])).status).toBe(200)
    }
    expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0, 0, 0])
    expect(services.map(({ stderr }) => stderr()).join('')).not.toMatch(/"level":"(error|fatal)"/)
  })
})

describe('a start that fails', () => {
  test('names every problem of the configuration in one message and exits with 1', async () => {
    const service = await start(freshFolder(), {
      PORT: 'eighty',
      TRUSTED_PROXIES: '10.0.0.0/33',
      LOG_LEVEL: 'loud',
      HF_TOKEN: 'two words',
      ERASE_WITHIN_MS: '-1',
    })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    const lines = service.stderr().trim().split('\n')
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual([
      'ERASE_WITHIN_MS',
      'HF_TOKEN',
      'LOG_LEVEL',
      'PORT',
      'TRUSTED_PROXIES',
    ])
    expect(service.stderr()).not.toContain('two words')
  })

  test('refuses a database that a newer version has written, and leaves it as it is', async () => {
    const dataDir = freshFolder()
    await (await start(dataDir)).stop()
    const database = new Database(join(dataDir, 'callbook.db'))
    database.exec(`insert into __drizzle_migrations (hash, created_at) values ('future', ${Date.now() * 2})`)
    const before = database.prepare('select name from sqlite_master').all().length
    const service = await start(dataDir)
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toBe(
      'Callbook cannot start: The database was written by a newer version of Callbook than this one. ' +
        'Start that version, or point DATA_DIR or DATABASE_URL at another database.\n',
    )
    expect(database.prepare('select name from sqlite_master').all()).toHaveLength(before)
    database.close()
  })

  test('says so in one sentence when the port is taken', async () => {
    const first = await start(freshFolder())
    const dataDir = freshFolder()
    const second = await start(dataDir, { PORT: new URL(first.url).port })
    expect(await second.ended).toBe(1)
    expect(second.stderr()).toMatch(
      /^Callbook cannot start: PORT is \d+, where another program listens already on .*\n$/,
    )
    expect(second.stdout()).toBe('')
    await first.stop()
    // The start that failed has not used up the one showing of the key.
    const third = await start(dataDir)
    expect(third.key).toMatch(/^ck_live_/)
    await third.stop()
  })

  test('says so in one sentence when the file is not a database', async () => {
    const dataDir = freshFolder()
    writeFileSync(join(dataDir, 'callbook.db'), 'not a database '.repeat(100))
    const service = await start(dataDir)
    expect(await service.ended).toBe(1)
    expect(service.stderr()).toMatch(/^Callbook cannot start: .*is damaged \(file is not a database\).*\n$/)
  })

  test('says so in one sentence when the folder cannot be written', async () => {
    const service = await start('/proc/callbook')
    expect(await service.ended).toBe(1)
    expect(service.stderr()).toStartWith('Callbook cannot start: ')
    expect(service.stderr().trim().split('\n')).toHaveLength(1)
  })
})

describe('SIGTERM', () => {
  /** A POST whose body is sent up to its last byte, so that the service is in the middle of it. */
  async function halfSent(service: SpawnedService) {
    const body = '{"name":"in flight","text":"said before the end"}'
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let received = ''
    socket.on('data', (data) => {
      received += data
    })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(
      `POST /v1/knowledge HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
    )
    // Connections are accepted, and read, in their order.
    for (let after = 0; after < 2; after++) await get(service, '/health')
    return { socket, finish: () => socket.write(body.slice(-1)), received: () => received }
  }

  function isRefused(service: SpawnedService): Promise<boolean> {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    return new Promise((resolve) => {
      socket.on('connect', () => resolve(false))
      socket.on('error', () => resolve(true))
    }).finally(() => socket.destroy()) as Promise<boolean>
  }

  test.concurrent.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: what is in flight is answered and kept, new connections are refused, exit 0',
    async (signal) => {
      const dataDir = freshFolder()
      const service = await start(dataDir)
      await ready(service)
      const request = await halfSent(service)
      service.child.kill(signal)
      await printed(service.stderr, /"msg":"closing"/)
      expect(await isRefused(service)).toBe(true)
      request.finish()
      await printed(request.received, /\r\n\r\n\{.*\}/s)
      expect(request.received()).toStartWith('HTTP/1.1 201 ')
      expect(await service.ended).toBe(0)
      expect(service.stderr()).toContain('"msg":"closed"')

      const again = await start(dataDir)
      expect(await (await get(again, '/v1/knowledge', service.key)).text()).toContain('said before the end')
      await again.stop()
    },
  )

  test.concurrent('any number of signals closes it once: what is in flight is still answered', async () => {
    const service = await start(freshFolder())
    await ready(service)
    const request = await halfSent(service)
    service.child.kill('SIGTERM')
    await printed(service.stderr, /"msg":"closing"/)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM', 'SIGINT'] as const) {
      service.child.kill(signal)
      await Bun.sleep(50)
    }
    request.finish()
    await printed(request.received, /\r\n\r\n\{.*\}/s)
    expect(request.received()).toStartWith('HTTP/1.1 201 ')
    expect(await service.ended).toBe(0)
    expect(service.stderr().match(/"msg":"(closing|closed)"/g)).toEqual(['"msg":"closing"', '"msg":"closed"'])
  })

  test.concurrent('it closes once when a wrapper passes on a signal that it got, too', async () => {
    const wrapped = await spawnService({ DATA_DIR: freshFolder(), LOG_FORMAT: 'json' }, ['bun', 'start'])
    await ready(wrapped)
    const [own = 0] = childrenOf({ pid: wrapped.child.pid ?? 0 })
    wrapped.child.kill('SIGTERM')
    process.kill(own, 'SIGTERM')
    await wrapped.ended
    expect(wrapped.stderr()).toContain('"msg":"closed"')
  })

  test.concurrent('a third SIGINT ends it at once', async () => {
    const service = await start(freshFolder())
    await ready(service)
    const { socket } = await halfSent(service)
    // Signals that come close together may be taken for one.
    const ended = service.ended.then(() => true)
    while (!(await Promise.race([ended, Bun.sleep(100).then(() => false)]))) service.child.kill('SIGINT')
    expect(await service.ended).toBe(130)
    expect(service.stderr()).not.toContain('"msg":"closed"')
    socket.destroy()
  })

  test.concurrent('idle connections that are kept alive do not delay it', async () => {
    const service = await start(freshFolder())
    await ready(service)
    const sockets = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
        socket.on('error', () => undefined)
        socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
        await once(socket, 'data')
        return socket
      }),
    )
    expect(await service.stop()).toBe(0)
    for (const socket of sockets) socket.destroy()
  })

  test.concurrent('a client that never ends its body is cut off in time for a clean end', async () => {
    const service = await start(freshFolder())
    await ready(service)
    const { socket } = await halfSent(service)
    expect(await service.stop()).toBe(0)
    socket.destroy()
  })

  test.concurrent('a signal during the start ends it cleanly', async () => {
    const service = await start(freshFolder())
    expect(await service.stop()).toBe(0)
    expect(service.stderr()).not.toMatch(/"level":"(error|fatal)"|cannot start/)
  })
})
