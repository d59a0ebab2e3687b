import { describe, expect, test } from 'bun:test'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, withService } from '../../support/command-line.ts'
import { receiverEnv as env, startReceiver, verify } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'

describe('callbook webhook', () => {
  test('makes, lists, rotates, replays and removes webhooks beside a running service', async () => {
    const receiver = await startReceiver()
    await withService(
      async (service, callbook) => {
        const project = await service.mintProject()
        const create = ['webhook', 'create', '--project', project.id, '--url', receiver.url]
        const events = ['--event', 'call.completed', '--event', 'call.deleted']
        const made = await callbook.json([...create, ...events], { env })
        expect(Object.keys(made.value)).toEqual(['id', 'url', 'events', 'secret'])
        expect(made.value).toMatchObject({ url: receiver.url, events: ['call.completed', 'call.deleted'] })
        expect(made.value.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
        await project.send('PUT', '/ingest/calls/a', { status: 'completed' })
        await until(() => receiver.received.length === 1)
        const { id } = made.value
        await until(async () => (await service.services.webhooks.list(project.projectId))[0]?.pending === 0)
        const list = await callbook.json(['webhook', 'list'])
        expect(list.value).toEqual([
          {
            id,
            url: receiver.url,
            events: ['call.completed', 'call.deleted'],
            enabled: true,
            pending: 0,
            failures: 0,
            lastSuccessAt: expect.stringMatching(/Z$/),
          },
        ])
        expect(list.out).not.toContain(made.value.secret)
        const rotated = await callbook.json(['webhook', 'rotate', id])
        const replayed = await callbook.json(['webhook', 'replay', id, '--after', '0'])
        expect(replayed.value).toEqual({ id, queued: 1 })
        await until(() => receiver.received.length === 2)
        const again = receiver.received[1]
        if (again) for (const secret of [made.value.secret, rotated.value.secret]) verify(secret, again)
        await until(async () => (await service.services.deliveries.list(project.projectId, id)).length === 2)
        const deliveries = await callbook.json(['webhook', 'deliveries', id])
        expect(deliveries.value[0]).toMatchObject({
          event: 'call.completed',
          seq: 1,
          attempt: 1,
          status: 204,
        })
        expect((await callbook.spawned(['webhook', 'deliveries', id])).out).toMatch(
          /AT +EVENT[\s\S]*call\.completed +1/,
        )
        expect((await callbook.json(['webhook', 'enable', id])).value).toEqual({ id, queued: 0 })
        expect((await callbook.json(['webhook', 'remove', id])).value).toEqual({ id, deleted: true })
        expect((await callbook.json(['webhook', 'list', '--project', project.id])).value).toEqual([])
        for (const secret of [made.value.secret, rotated.value.secret])
          expect(JSON.stringify(service.logs)).not.toContain(secret)
      },
      freshFolder(),
      env,
    )
    await receiver.close()
  })

  test.each([
    [['--url', 'http://example.com/'], '--url: must start with https://'],
    [
      ['--url', 'https://10.0.0.1/'],
      '--url: must lead to a public address (WEBHOOK_ALLOW_PRIVATE can allow others)',
    ],
    [
      ['--url', 'https://example.com/', '--event', 'call.ended'],
      '--event: is "call.ended"; known are call.started',
    ],
  ])('%p is refused with the name of the option', async (args, message) => {
    const callbook = new CommandLine()
    await callbook.project()
    const { code, out, err } = await callbook.run(['webhook', 'create', '--project', 'Acme', ...args])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(message)
  })

  test('a webhook that is not there, and a number that is none, are refused', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const missing = await callbook.run(['webhook', 'replay', 'wh_none', '--after', '0'])
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('There is no such webhook.')])
  })
})
