import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../../support/at-end.ts'
import { withService } from '../../support/command-line.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'

test('callbook alert creates, lists, tests, pauses and removes beside a running service', async () => {
  await withService(async (service, callbook) => {
    const { id: project, fetch } = await service.mintProject()
    const of = ['--project', project]
    const file = join(freshFolder(), 'rule.json')
    const rule = { name: 'Quiet', windowMinutes: 60, below: { alert: 1 }, showOnly: true }
    writeFileSync(file, JSON.stringify(rule))
    const { value: made } = await callbook.json(['alert', 'create', file, ...of])
    expect(made).toMatchObject({ ...rule, of: 'calls', to: [] })
    const { id } = made as { id: string }
    expect((await callbook.json(['alert', 'list', ...of])).value).toMatchObject([{ id, paused: false }])
    expect((await callbook.json(['alert', 'test', id, ...of])).value).toEqual({ id, queued: 0 })
    expect((await callbook.spawned(['alert', 'pause', id, ...of])).out).toBe(`Paused the alert ${id}.\n`)
    expect((await callbook.run(['alert', 'list', ...of])).out).toContain('paused')
    const resumed = await callbook.json(['alert', 'pause', id, '--resume', ...of])
    expect(resumed.value).toMatchObject({ paused: false })
    expect((await callbook.json(['alert', 'remove', id, ...of])).value).toEqual({ id, deleted: true })
    expect((await (await fetch('/v1/alerts')).json()).data).toEqual([])
    writeFileSync(file, JSON.stringify({ ...rule, windowMinutes: 1 }))
    const bad = await callbook.run(['alert', 'create', file, ...of])
    expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('windowMinutes')])
    writeFileSync(file, JSON.stringify({ ...rule, showOnly: false, name: ' ' }))
    const silent = await callbook.run(['alert', 'create', file, ...of])
    expect([silent.code, silent.err]).toEqual([1, expect.stringMatching(/name.*blank.*showOnly/s)])
    expect((await callbook.run(['alert', 'pause', 'alr_none', ...of])).code).toBe(1)
  })
})

test('callbook alert test links to where the service listens, not to the port that it has by default', async () => {
  const env = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' }
  const receiver = await startReceiver()
  await withService(
    async (service, callbook) => {
      service.services.listensAt(service.url)
      const of = ['--project', (await service.mintProject()).id]
      const hook = ['webhook', 'create', '--url', receiver.url, '--event', 'alert.changed', ...of]
      const { value: webhook } = await callbook.json(hook, { env })
      const file = join(freshFolder(), 'rule.json')
      const to = [{ webhook: webhook.id }]
      writeFileSync(file, JSON.stringify({ name: 'Quiet', windowMinutes: 60, below: { alert: 1 }, to }))
      const { value: alert } = await callbook.json(['alert', 'create', file, ...of], { env })
      await callbook.json(['alert', 'test', alert.id, ...of], { env })
      await until(() => receiver.received.length > 0)
      expect(String(receiver.received[0]?.data.alert?.url)).toStartWith(`${service.url}/console/p/`)
    },
    freshFolder(),
    env,
  )
  await receiver.close()
})
