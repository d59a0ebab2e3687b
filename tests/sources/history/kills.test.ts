import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Chance } from '../../../scripts/torture/chance.ts'
import { startCommand, startVictim, untilReady } from '../../../scripts/torture/victim.ts'
import { freshFolder } from '../../support/at-end.ts'
import { ofFilesOnly } from '../../support/test-mode.ts'
import { apiKey, pastCalls, startPlatform } from './fake-platforms.ts'

setDefaultTimeout(900_000)
/** IMPORT_KILLS=50 by hand. */
const kills = Number(process.env.IMPORT_KILLS ?? 3)

describe.skipIf(ofFilesOnly)('a service that is killed while it imports', () => {
  // With windows of time, of which there are ninety, and with a cursor.
  test.each([
    ['vapi', 400, 12],
    ['retell', 300, 30],
  ] as const)('ends with exactly what %s has', async (name, count, rate) => {
    const dataDir = join(freshFolder(), 'data')
    const fake = await startPlatform(name)
    fake.calls.push(...pastCalls(count, Date.now() - 89 * 86_400_000, 5 * 3_600_000))
    let victim = startVictim(dataDir)
    let url = (await victim.address) ?? ''
    const command = async (...args: string[]) => {
      const { out, err } = await startCommand(dataDir, [...args, '--json']).done
      if (!out) throw new Error(err)
      return JSON.parse(out)
    }
    const made = ['key', 'create', '--project', 'default', '--name', 'k', '--scope', 'manage']
    const { key } = await command(...made)
    const options = ['--option', `apiKey=${apiKey}`, '--option', `host=${fake.origin}`]
    const { id } = await command(
      'source',
      'create',
      '--project',
      'default',
      '--platform',
      name,
      '--secret',
      's'.repeat(20),
      ...options,
    )
    const ask = async (path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      return await (await fetch(`${url}/v1/${path}`, { ...init, headers })).json()
    }
    const body = JSON.stringify({ since: '90d', rate })
    expect(await ask(`sources/${id}/import`, { method: 'POST', body })).toMatchObject({ state: 'running' })
    const chance = new Chance(11)
    let struck = 0
    for (let kill = 0; kill < kills; kill++) {
      await sleep(chance.between(300, 1_500))
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
