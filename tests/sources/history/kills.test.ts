import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Chance } from '../../../scripts/torture/chance.ts'
import { startVictim, untilReady } from '../../../scripts/torture/victim.ts'
import { freshFolder } from '../../support/at-end.ts'
import { asCommand } from '../../support/command.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { apiKey, pastCalls, startPlatform } from './fake-platforms.ts'

setDefaultTimeout(900_000)
/** IMPORT_KILLS=50 by hand, over an import that is long enough for them. */
const kills = Number(process.env.IMPORT_KILLS ?? 2)
const isLong = kills > 2

describe.skipIf(ofFilesOnly)('a service that is killed while it imports', () => {
  // With windows of time, of which there are ninety, and with a cursor.
  test.each([
    ['vapi', isLong ? 400 : 120, isLong ? 1 : 20],
    ['retell', isLong ? 1_000 : 120, isLong ? 50 : 40],
  ] as const)('ends with exactly what %s has', async (name, count, rate) => {
    const dataDir = join(freshFolder(), 'data')
    const fake = await startPlatform(name)
    fake.calls.push(...pastCalls(count, Date.now() - 89 * 86_400_000, (88 * 86_400_000) / count))
    const { id, key } = await asCommand(dataDir, async ({ projects, keys, sources }) => {
      const { projectId } = await projects.create('killed')
      const manage = { name: 'manage', kind: 'live' as const, scope: 'manage' as const }
      const { key } = await keys.create(projectId, { ...manage, allowedIps: [], expiresAt: null })
      const options = { apiKey, host: fake.origin }
      return { key, id: (await sources.create(projectId, { platform: name, options })).id }
    })
    let victim = startVictim(dataDir)
    let url = (await victim.address) ?? ''
    const ask = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      return await (await fetch(`${url}/v1/${path}`, { ...init, headers })).json()
    }
    const body = JSON.stringify({ since: '90d', rate })
    expect(await ask(`sources/${id}/import`, { method: 'POST', body })).toMatchObject({ state: 'running' })
    const chance = new Chance(11)
    let struck = 0
    for (let kill = 0; kill < kills; kill++) {
      await sleep(chance.between(300, isLong ? 3_000 : 1_500))
      if ((await ask(`sources/${id}/import`)).state === 'running') struck++
      await victim.kill()
      victim = startVictim(dataDir)
      url = (await victim.address) ?? ''
      expect(await untilReady(url, victim)).toBe(true)
    }
    let report = await ask(`sources/${id}/import`)
    while (report.state === 'running') {
      await sleep(200)
      report = await ask(`sources/${id}/import`)
    }
    expect(report).toMatchObject({ state: 'done', failed: 0, changed: 0 })
    expect(report.created + report.unchanged).toBe(report.found)
    expect(struck).toBeGreaterThan(0)
    if (isLong) console.log(`${name}: struck ${struck} of ${kills} times`, report)
    const { data, pagination } = await ask('calls?limit=1000&order=createdAt')
    expect(pagination.total).toBe(count)
    const stored = data.map(({ id, transcript }: { id: string; transcript: { content: string }[] }) => [
      id,
      ...transcript.map(({ content }) => content),
    ])
    expect(stored).toEqual(fake.calls.map(({ id, words }) => [id, ...words]))
    await victim.kill()
  })
})
