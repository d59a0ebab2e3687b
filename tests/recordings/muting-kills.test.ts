import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { rate } from '../../scripts/bench/spoken-calls.ts'
import { Chance } from '../../scripts/torture/chance.ts'
import { reading } from '../../scripts/torture/database.ts'
import { startCommand, startVictim, untilReady } from '../../scripts/torture/victim.ts'
import type { CallDetails } from '../../src/calls/schemas.ts'
import { freshFolder } from '../support/at-end.ts'
import { saidWith, timeline, turns, wav } from '../support/muted-call.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(900_000)
/** `MUTING_KILLS=30` for longer. */
const kills = Number(process.env.MUTING_KILLS ?? 1)
const killWithinMs = 700

const redacted = turns.findIndex(({ role }) => role === 'user')
const call = {
  status: 'completed',
  transcript: saidWith(redacted),
  details: { timeline },
}

describe.skipIf(ofFilesOnly)('a service that is killed while it mutes', () => {
  test('never serves what was sent, and leaves neither its file nor its key', async () => {
    const dataDir = join(freshFolder(), 'data')
    const chance = new Chance(1)
    let victim = startVictim(dataDir)
    let url = (await victim.address) ?? ''
    const key = /API key +(\S+)/.exec(victim.printed())?.[1] ?? ''
    const command = async (...args: string[]) => (await startCommand(dataDir, [...args, '--json']).done).out
    const ingestKey = JSON.parse(
      await command('key', 'create', '--project', 'default', '--name', 'i', '--kind', 'ingest'),
    ).key
    await command('project', 'set', 'default', '--redact', 'card', '--recordings', 'mute')
    const ask = (path: string, init: RequestInit = {}) => {
      const authorization = `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`
      return fetch(url + path, { ...init, headers: { authorization, 'content-type': 'application/json' } })
    }
    for (let n = 0; n < kills; n++) {
      const id = `call-${n}`
      expect((await ask(`/ingest/calls/${id}`, { method: 'PUT', body: JSON.stringify(call) })).status).toBe(
        201,
      )
      expect((await ask(`/ingest/calls/${id}/recording`, { method: 'PUT', body: wav })).status).toBe(201)
      await sleep(chance.between(0, killWithinMs))
      await victim.kill()
      const [sent] = await reading(dataDir, (db) =>
        db
          .prepare(
            'select hex(key) as key, file, waiting_since from recordings join calls using (seq) where id = ?',
          )
          .all(id),
      )
      victim = startVictim(dataDir)
      url = (await victim.address) ?? ''
      expect(await untilReady(url, victim)).toBe(true)
      const details = async () => (await (await ask(`/v1/calls/${id}/details`)).json()) as CallDetails
      await until(async () => {
        const answer = await ask(`/v1/calls/${id}/recording`)
        // Until it is muted there is none.
        if (answer.status === 404) return false
        expectSilent(Buffer.from(await answer.arrayBuffer()), (await details()).recording.muted ?? [])
        return true
      })
      if (Object(sent).waiting_since === null) continue
      const { key: sentKey, file } = Object(sent)
      const files = () => readdirSync(join(dataDir, 'recordings'), { recursive: true }).map(String)
      await until(() => !files().some((name) => name.includes(file)))
      await until(() => !holds(dataDir, Buffer.from(sentKey, 'hex')))
      // Those of the kills before, too, which were muted when they came.
      await until(() => files().filter((name) => name !== 'incoming').length === n + 1)
    }
    await victim.kill()
  })
})

/** All that is said in the redacted turn is silent, and the rest is as it was sent. */
function expectSilent(served: Buffer, muted: number[][]): void {
  const { from, to } = turns[redacted] ?? { from: 0, to: 0 }
  expect(muted.some(([start = 0, end = 0]) => start <= from && to <= end)).toBe(true)
  const [first, last] = [from, to].map((seconds) => 44 + 4 * Math.round(seconds * rate))
  expect(served.subarray(first, last).every((byte) => byte === 0)).toBe(true)
  expect(served.length).toBe(wav.length)
}

function holds(dataDir: string, bytes: Buffer): boolean {
  const names = readdirSync(dataDir).filter((name) => name.startsWith('callbook.db'))
  return names.some((name) => readFileSync(join(dataDir, name)).includes(bytes))
}
