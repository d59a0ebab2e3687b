import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { receiverEnv, startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { freshFolder, spawnService } from '../support/spawned.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(180_000)
const rules = 40
const dataDir = freshFolder()
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

describe.skipIf(ofFilesOnly)('kills', () => {
  test('between evaluations lose neither a state nor its message, and each change has one message id', async () => {
    const receiver = await startReceiver()
    const settings = { DATA_DIR: dataDir, ...receiverEnv }
    let filling = await startService({ dataDir, env: settings })
    const project = await filling.mintProject()
    const { id: webhook } = await filling.services.webhooks.create(project.projectId, { url: receiver.url })
    for (let n = 0; n < rules; n++)
      await filling.services.alerts.create(project.projectId, {
        name: `Quiet ${n}`,
        windowMinutes: 5,
        below: { alert: 1 },
        to: [{ webhook }],
      })
    await filling.stop()
    // The rules are spread over the minute, so most kills come between two evaluations, and some within one.
    let service = await spawnService(settings)
    const changed = () =>
      new Set(receiver.received.map(({ data }) => data.alert?.id).filter((id) => id !== undefined))
    while (changed().size < rules) {
      await sleep(200 + Math.random() * 2_000)
      await service.stop('SIGKILL')
      service = await spawnService(settings)
    }
    await service.stop()
    filling = await startService({ dataDir, env: settings })
    const list = await filling.services.alerts.list(project.projectId)
    expect(list.filter(({ state }) => state === 'alert')).toHaveLength(rules)
    const { data } = await filling.services.alerts.changes(project.projectId)
    expect(data).toHaveLength(rules)
    const ids = receiver.received.map(({ headers, data }) => `${data.alert?.id} ${headers['webhook-id']}`)
    expect(new Set(ids).size).toBe(rules)
    await until(
      async () => (await filling.services.webhooks.list(project.projectId))[0]?.pending === 0,
      'sent',
    )
    await filling.stop()
    await receiver.close()
  })
})
