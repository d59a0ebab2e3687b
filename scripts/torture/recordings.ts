import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallDetails } from '../../src/calls/schemas.ts'
import { toWav } from '../bench/spoken-calls.ts'
import { ask } from '../requests.ts'
import { Chance } from './chance.ts'
import { reading, untilNone } from './database.ts'
import { startCommand, startVictim, untilReady } from './victim.ts'

const workers = 4
const idsOfWorker = 4
/** Each of another length, by which it is told what was measured. */
const recordingsMade = 8
const samplesPerSecond = 8_000
const measuredWithinMs = 60_000
const partBytes = 40_000

/** What a call's recording may be: digests, or null for none. More than one while a request is under way. */
type Possible = ReadonlySet<string | null>

export interface RecordingKills {
  kills: number
  kept: number
  deleted: number
  /** How many recordings there are at the end, each of which was measured. */
  measured: number
  violations: string[]
}

/**
 * Kills the service while recordings arrive, are measured, are replaced and are deleted. After each start, each recording
 * is the old or the new one, and no file is left that no row names. In the end each is measured, as what it is.
 */
export async function killRecordings(kills: number, seed: number): Promise<RecordingKills> {
  const chance = new Chance(seed)
  const folder = mkdtempSync(join(tmpdir(), 'callbook-recordings-'))
  const dataDir = join(folder, 'data')
  const state = new Map<string, Possible>()
  const report: RecordingKills = { kills: 0, kept: 0, deleted: 0, measured: 0, violations: [] }
  let victim = startVictim(dataDir)
  let url = (await victim.address) ?? ''
  const key = /API key +(\S+)/.exec(victim.printed())?.[1] ?? ''
  const args = ['key', 'create', '--project', 'default', '--name', 'i', '--kind', 'ingest', '--json']
  const ingestKey = String(JSON.parse((await startCommand(dataDir, args).done).out).key)
  const made = Array.from({ length: recordingsMade }, (_, n) => madeRecording(n + 2))
  for (let n = 0; n < workers * idsOfWorker; n++) {
    const path = `/ingest/calls/call-${Math.floor(n / idsOfWorker)}-${(n % idsOfWorker) + 1}`
    await ask(url, { method: 'PUT', path, key: ingestKey, body: { status: 'completed' } })
  }
  while (report.kills < kills && report.violations.length === 0) {
    let isStopped = false
    const sendOne = async (worker: number) => {
      const id = `call-${worker}-${chance.between(1, idsOfWorker)}`
      const before = state.get(id) ?? new Set([null])
      const isDeletion = chance.happens(0.3)
      const recording = isDeletion ? null : chance.oneOf(made)
      const body = recording?.body
      const after = recording?.digest ?? null
      state.set(id, new Set([...before, after]))
      const answer = body
        ? await fetch(`${url}/ingest/calls/${id}/recording`, {
            method: 'PUT',
            headers: { authorization: `Bearer ${ingestKey}` },
            body: slowly(body),
          })
        : await fetch(`${url}/v1/calls/${id}/recording`, {
            method: 'DELETE',
            headers: { authorization: `Bearer ${key}` },
          })
      if (answer.ok) {
        state.set(id, new Set([after]))
        if (body) report.kept++
        else report.deleted++
      } else if (answer.status === 404) state.set(id, new Set([null]))
      else if (!isStopped)
        report.violations.push(`${id} was answered ${answer.status}: ${await answer.text()}`)
    }
    const working = Array.from({ length: workers }, async (_, worker) => {
      while (!isStopped) await sendOne(worker).catch(() => undefined)
    })
    do await sleep(chance.between(50, 900))
    while (report.kept === 0)
    isStopped = true
    await victim.kill()
    report.kills++
    await Promise.all(working)
    victim = startVictim(dataDir)
    url = (await victim.address) ?? ''
    if (!url || !(await untilReady(url, victim))) report.violations.push('the service did not become ready')
    else await inspect()
  }
  async function inspect() {
    for (const [id, possible] of state) {
      const answer = await fetch(`${url}/v1/calls/${id}/recording`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      const found = answer.ok ? createHash('sha256').update(bytes).digest('hex') : null
      if (!possible.has(found)) report.violations.push(`${id} is none of those that were acknowledged`)
      state.set(id, new Set([found]))
    }
    const stray = await strayFiles(dataDir)
    if (stray.length > 0) report.violations.push(`files that no row names: ${stray.join(', ')}`)
  }
  const left = await untilNone(dataDir, 'recordings where sound_due is not null', measuredWithinMs)
  if (left > 0) report.violations.push(`${left} recordings were never measured`)
  for (const [id, [digest]] of state) {
    const recording = made.find((one) => one.digest === digest)
    if (!recording) continue
    const { sound } = await ask<CallDetails>(url, { path: `/v1/calls/${id}/details`, key })
    report.measured++
    if (Math.abs((sound.agentSeconds ?? 0) - recording.seconds) > 0.1)
      report.violations.push(`${id} is measured as another recording: ${JSON.stringify(sound)}`)
  }
  await victim.kill()
  if (report.violations.length === 0) rmSync(folder, { recursive: true, force: true })
  return report
}

/** Also names whose file is missing. */
async function strayFiles(dataDir: string): Promise<string[]> {
  const rows = await reading(dataDir, (db) => db.prepare('select file from recordings').pluck().all())
  const named = new Set(rows.map(String))
  const folder = join(dataDir, 'recordings')
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name !== 'incoming') : []
  const incoming = join(folder, 'incoming')
  const drafts = existsSync(incoming) ? readdirSync(incoming) : []
  const missing = [...named].filter((name) => !files.includes(name))
  return [
    ...files.filter((name) => !named.has(name)),
    ...drafts.map((name) => `${name} (draft)`),
    ...missing.map((name) => `${name} (missing)`),
  ]
}

/** The agent alone speaks, louder and less loud, after silence and before it: without any it would be noise. */
function madeRecording(seconds: number) {
  const silence = 0.5 + seconds / 8
  const length = Math.round((seconds + 2 * silence) * samplesPerSecond)
  const agent = new Float32Array(length).map((_, at) => {
    const time = at / samplesPerSecond - silence
    const level = time < 0 || time >= seconds ? 0 : 0.2 + 0.3 * Math.abs(Math.sin(time * 20))
    return level * (2 * Math.random() - 1)
  })
  const body = toWav([new Float32Array(length), agent], samplesPerSecond)
  return { body, seconds, digest: createHash('sha256').update(body).digest('hex') }
}

/** So that a kill comes at any byte of it. */
function slowly(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream(
    {
      async pull(controller) {
        await sleep(1)
        controller.enqueue(bytes.subarray(at, at + partBytes))
        at += partBytes
        if (at >= bytes.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
