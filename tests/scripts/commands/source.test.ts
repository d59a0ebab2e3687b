import { describe, expect, test } from 'bun:test'
import { FolderOwner } from '../../../src/db/folder-owner.ts'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, withService } from '../../support/command-line.ts'
import { spawnService } from '../../support/spawned.ts'

const create = ['source', 'create', '--project', 'Acme', '--platform']

describe('callbook source', () => {
  test('a made secret is shown once; a running service takes events with it, and those that cannot be read are listed', async () => {
    await withService(async ({ url, services }, callbook) => {
      const project = await callbook.project()
      const made = (await callbook.json([...create, 'dograh'])).value
      expect(Object.keys(made)).toEqual(['id', 'url', 'platform', 'secret'])
      expect(made.id).toMatch(/^src_[0-9a-f]{32}$/)
      expect(made.url).toEndWith(`/ingest/from/${made.id}`)
      const send = async (body: object, secret: string) => {
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        return (await fetch(url + new URL(made.url).pathname, init)).status
      }
      expect(await send({ id: 'run-1' }, made.secret)).toBe(200)
      expect(await send({ id: 'run-2', agent: 7 }, made.secret)).toBe(200)
      await services.eventCounts.flush()
      const listed = await callbook.json(['source', 'list'])
      expect(listed.value).toEqual([
        {
          id: made.id,
          platform: 'dograh',
          name: 'Dograh',
          projectId: project,
          events: 2,
          failures: 1,
          lastEventAt: expect.any(String),
          poll: null,
        },
      ])
      expect(listed.out).not.toContain(made.secret)
      const failures = await callbook.json(['source', 'failures', made.id])
      expect(failures.value).toMatchObject([
        { callId: 'run-2', field: 'agent', message: 'must be a string', isKept: true },
      ])
      expect((await callbook.spawned(['source', 'failures', made.id])).out).toContain(
        'agent must be a string',
      )
      const again = await callbook.json(['source', 'read-again', made.id])
      expect(again.value).toEqual({ read: 0, failed: 1 })

      const rotated = await callbook.json(['source', 'rotate', made.id])
      expect(Object.keys(rotated.value)).toEqual(['id', 'secret'])
      expect(await send({ id: 'run-1' }, made.secret)).toBe(200)
      expect(await send({ id: 'run-1' }, rotated.value.secret)).toBe(200)
      const removed = await callbook.json(['source', 'remove', made.id])
      expect(removed.value).toEqual({ id: made.id, deleted: true })
      expect(await send({ id: 'run-1' }, rotated.value.secret)).toBe(404)
      expect((await callbook.run(['source', 'list'])).out).toBe('There are no sources yet.\n')
    })
  })

  test('the address is where the folder’s service listens; PUBLIC_URL wins, the service’s and the command’s own', async () => {
    const callbook = new CommandLine(freshFolder())
    const created = async (env: Record<string, string> = {}) => {
      const { value } = await callbook.json(
        ['source', 'create', '--project', 'default', '--platform', 'vapi'],
        { env },
      )
      return new URL(value.url).origin
    }
    const serve = (env: Record<string, string> = {}) =>
      spawnService({ DATA_DIR: callbook.dataDir, EMBEDDING_PROVIDER: 'builtin', ...env })
    const service = await serve()
    try {
      expect(await created()).toBe(service.url)
      expect(await created({ PUBLIC_URL: 'https://calls.example.com' })).toBe('https://calls.example.com')
    } finally {
      await service.stop()
    }
    // Nobody listens there any more, and the next owner of the folder does not listen yet.
    expect(await created({ PORT: '4321' })).toBe('http://127.0.0.1:4321')
    const starting = new FolderOwner(callbook.dataDir)
    await starting.take(0)
    expect(await created({ PORT: '4321' })).toBe('http://127.0.0.1:4321')
    starting.release()
    const published = await serve({ PUBLIC_URL: 'https://front.example.com' })
    try {
      expect(await created()).toBe('https://front.example.com')
    } finally {
      await published.stop()
    }
  })

  test('a secret that the platform makes is told later, by the command that the answer names', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const { value, err } = await callbook.json([...create, 'elevenlabs', '--name', 'Front desk'])
    expect([Object.keys(value), err]).toEqual([['id', 'url', 'platform'], ''])
    expect((await callbook.run(['source', 'list'])).out).toContain('no secret yet')
    const refused = await callbook.run(['source', 'rotate', value.id])
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toContain('--secret: is required')
    const told = await callbook.json(['source', 'rotate', value.id, '--secret', '-'], { stdin: 'wsec_1\n' })
    expect([told.value, told.err]).toEqual([{ id: value.id }, ''])
    expect((await callbook.run(['source', 'list', '--project', 'Acme'])).out).toContain('waiting')
  })

  test('agents of LiveKit are given a variable, and sign with their own secret', async () => {
    await withService(async ({ services }, callbook) => {
      await callbook.project()
      const args = [...create, 'livekit', '--option', 'apiKey=-', '--secret', '-']
      const { out } = await callbook.run(args, { stdin: 'its-secret\nAPIkey\n' })
      expect(out).toMatch(/^LIVEKIT_OBSERVABILITY_URL=http:\/\/127\.0\.0\.1:\d+$/m)
      expect(out).not.toMatch(/its-secret|ingest\/from/)
      expect(await services.sources.openByApiKey('APIkey')).toMatchObject([{ secrets: ['its-secret'] }])
      const byOptions = [...create, 'livekit', '--option', 'apiKey=-', '--option', 'apiSecret=-']
      expect((await callbook.run(byOptions, { stdin: 'APIother\nother-secret\n' })).code).toBe(0)
      const [other] = await services.sources.openByApiKey('APIother')
      expect(other).toMatchObject({ secrets: ['other-secret'], options: { apiKey: 'APIother' } })
    })
  })

  test('secrets are read from standard input, one a line; one in the command is warned of', async () => {
    await withService(async ({ services }, callbook) => {
      await callbook.project()
      const [secret, summaryInsight] = ['a-secret-of-the-platform', '7b1f3c52']
      const stdin = `${secret}\r\n${summaryInsight}\n`
      const telnyx = Buffer.alloc(32, 7).toString('base64')
      const made = await callbook.json([...create, 'dograh', '--secret', '-'], { stdin })
      expect(made.err).toBe('')
      expect((await services.sources.open(made.value.id)).secrets).toEqual([secret])
      const both = ['telnyx', '--secret', '-', '--option', 'summaryInsight=-']
      const second = await callbook.json([...create, ...both], { stdin: `${telnyx}\n${summaryInsight}` })
      expect(await services.sources.open(second.value.id)).toMatchObject({
        secrets: [telnyx],
        options: { summaryInsight },
      })
      for (const args of [
        [...create, 'dograh'],
        ['source', 'rotate', made.value.id],
      ]) {
        const warned = await callbook.json([...args, '--secret', secret])
        expect(warned.code).toBe(0)
        expect(warned.err).toContain(
          'Other users of this machine can see the secret in the list of processes',
        )
        expect(warned.err).toContain('--secret -')
        expect(warned.err).not.toContain(secret)
      }
    })
  })

  test.each([
    [['vapi', '--secret', 'two words'], '--secret: must be printable ASCII'],
    [['vapi', '--secret', 'fifteen-letters'], '--secret: must be at least 16 characters'],
    [['vapi', '--secret', '-'], '--secret: was not given on standard input'],
    [['vapi', '--option', 'direction=-'], '--option direction: was not given on standard input'],
    [['telnyx', '--secret', 'no-key'], "--secret: must be the account's public key"],
    [['synthflow', '--option', 'direction=up'], '--option direction: must be one of inbound, outbound'],
    [['vapi', '--option', 'direction=inbound'], '--option direction: is not known'],
    [['livekit', '--secret', 'its-secret'], '--option apiKey: is required'],
    [['vapi', '--option', 'direction'], '--option direction: must be KEY=VALUE'],
  ])('%p is refused with the name of the option', async (args, message) => {
    const callbook = new CommandLine()
    await callbook.project()
    const { code, out, err } = await callbook.run([...create, ...args])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
  })

  test('an API key is read from standard input, replaced, and shown nowhere', async () => {
    await withService(async ({ services }, callbook) => {
      const project = await callbook.project()
      const options = ['--option', 'apiKey=-', '--option', 'host=api.eu.vapi.ai']
      const made = await callbook.json([...create, 'vapi', ...options], { stdin: 'key-one\n' })
      const { id } = made.value
      const set = await callbook.json(['source', 'set', id, '--option', 'apiKey=-'], { stdin: 'key-two\n' })
      expect(set.value).toEqual({ id, options: { host: 'api.eu.vapi.ai' }, hasApiKey: true })
      const listed = await callbook.json(['source', 'list'])
      expect(made.out + set.out + listed.out).not.toContain('key-')
      expect((await services.sources.open(id)).options.apiKey).toBe('key-two')
      const bad = await callbook.run(['source', 'set', id, '--option', 'host=https://a.example/b'])
      expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('--option host')])
      const moved = await callbook.run(['source', 'set', id, '--option', 'host=api.us.vapi.ai'])
      expect([moved.code, moved.out]).toEqual([0, expect.stringContaining('has no API key')])
      expect((await services.sources.open(id)).options).toEqual({ host: 'api.us.vapi.ai' })
      const none = await callbook.run(['recording', 'fetch', '--project', project])
      expect([none.code, none.err]).toEqual([1, expect.stringContaining('does not keep recordings')])
      await callbook.run(['project', 'set', project, '--recordings', 'keep'])
      expect((await callbook.json(['recording', 'fetch', '--project', project])).value).toEqual({ queued: 0 })
    })
  })
})
