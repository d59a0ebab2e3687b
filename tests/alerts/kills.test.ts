import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshFolder } from '../support/at-end.ts'
import { receiverEnv, startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { spawnService } from '../support/spawned.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(180_000)
const projects = 2
const rulesOfEach = 40
const rules = projects * rulesOfEach
const killsMax = 4
const dataDir = freshFolder()

describe.skipIf(ofFilesOnly)('kills', () => {
  test('between evaluations lose neither a state nor its message, and each change has one message id', async () => {
    const receiver = await startReceiver()
    const settings = { DATA_DIR: dataDir, ...receiverEnv }
    let filling = await startService({ dataDir, env: settings })
    const made = await Promise.all(Array.from({ length: projects }, () => filling.mintProject()))
    for (const { projectId } of made) {
      const { id: webhook } = await filling.services.webhooks.create(projectId, { url: receiver.url })
      const rule = { name: 'Quiet', windowMinutes: 5, below: { alert: 1 }, to: [{ webhook }] }
      for (let n = 0; n < rulesOfEach; n++) await filling.services.alerts.create(projectId, rule)
    }
    await filling.stop()
    const told = () => new Set(receiver.received.map(({ data }) => data.alert?.id)).size
    let [kills, service] = [0, await spawnService(settings)]
    // A start evaluates all rules, one after the other, and is killed soon after the first message of a change.
    for (let before = 0; told() < rules && kills < killsMax; before = told()) {
      await until(() => told() > before || told() === rules, 'A message')
      await sleep(Math.random() * 20)
      await service.stop('SIGKILL')
      kills++
      service = await spawnService(settings)
    }
    expect(kills).toBeGreaterThan(1)
    await until(() => told() === rules, 'The other messages')
    await service.stop()
    filling = await startService({ dataDir, env: settings })
    for (const { projectId } of made) {
      const list = await filling.services.alerts.list(projectId)
      expect(list.filter(({ state }) => state === 'alert')).toHaveLength(rulesOfEach)
      expect((await filling.services.alerts.changes(projectId)).data).toHaveLength(rulesOfEach)
    }
    const ids = receiver.received.map(({ headers, data }) => `${data.alert?.id} ${headers['webhook-id']}`)
    expect(new Set(ids).size).toBe(rules)
    await filling.stop()
    await receiver.close()
  })
})
