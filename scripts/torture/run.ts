import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { redactionKinds } from '../../src/redaction/kinds.ts'
import { Chance } from './chance.ts'
import { WebhookEndpoint } from './endpoint.ts'
import { inspect } from './inspection.ts'
import { Load } from './load.ts'
import { killMigrations } from './migrations.ts'
import { Model } from './model.ts'
import type { TortureOptions } from './options.ts'
import { AgedCalls } from './retention.ts'
import { logOf, startCommand, startVictim, untilReady, type Victim } from './victim.ts'

/** What the service is doing when it is killed. */
const moments = ['load', 'save', 'erasure', 'start', 'migration'] as const
type Moment = (typeof moments)[number]

export interface TortureReport {
  seed: number
  kills: Record<Moment, number>
  /** Acknowledged operations, by kind. */
  operations: Record<string, number>
  /** Events that arrived by webhook, and how many of them were repeated. */
  webhooks: { events: number; repeated: number }
  deletesProven: number
  bytesSearched: number
  /** Vectors of deleted items that the last search looked for. */
  vectorsSought: number
  seconds: number
  /** Broken promises. If there are any, the folder is kept. */
  violations: string[]
  folder: string | null
}

/** Kills the service repeatedly, and compares the state after each start with what was acknowledged. */
export async function runTorture(
  { seed, kills: killsMax, minutes }: TortureOptions,
  say: (line: string) => void,
): Promise<TortureReport> {
  const startedAt = performance.now()
  const chance = new Chance(seed)
  const model = new Model()
  const folder = mkdtempSync(join(tmpdir(), 'callbook-torture-'))
  const dataDir = join(folder, 'data')
  const kills: Record<Moment, number> = { load: 0, save: 0, erasure: 0, start: 0, migration: 0 }
  const sum = () => Object.values(kills).reduce((a, b) => a + b, 0)
  let bytesSearched = 0
  let { victim, url } = await start(dataDir, model)
  const keys = await makeKeys(dataDir, victim)
  const endpoint = new WebhookEndpoint(model, new Chance(seed + 1))
  await makeWebhook(dataDir, endpoint)
  const aged = new AgedCalls(dataDir, model, chance)
  await aged.makeProject()
  const isOver = () => sum() >= killsMax || performance.now() - startedAt >= minutes * 60_000
  for (let round = 0; !isOver() && model.violations.length === 0; round++) {
    const moment = moments[round % moments.length] ?? 'load'
    if (moment === 'migration') {
      kills.migration += await killMigrations(folder, chance, model)
      continue
    }
    const onDeleted = Promise.withResolvers<void>()
    const load = new Load({ url, dataDir, ...keys, model, chance, onDeleted: () => onDeleted.resolve() })
    await untilMoment(moment, { chance, dataDir, deleted: onDeleted.promise })
    if (victim.hasEnded()) model.violated('the service ended by itself')
    load.stop()
    await victim.kill()
    kills[moment]++
    if (chance.happens(0.3)) load.killCommand()
    await load.ended()
    if (moment === 'start') {
      await aged.add()
      kills.start += await killStarts(dataDir, chance)
    }
    ;({ victim, url } = await start(dataDir, model))
    if (!victim.hasEnded()) {
      await aged.inspect()
      const { bytes } = await inspect({ url, dataDir, ...keys, model }).catch((error) => {
        model.violated(`the inspection failed: ${String(error)}`)
        return { bytes: 0 }
      })
      bytesSearched += bytes
      await endpoint.inspect(dataDir)
    }
    say(
      `${sum()} kills (${moment}), ${model.calls.size} calls, ${model.items.size} items, ${model.deadMarkers.size} gone`,
    )
  }
  await victim.kill()
  endpoint.close()
  readLog(dataDir, model)
  if (model.violations.length === 0) rmSync(folder, { recursive: true, force: true })
  return {
    seed,
    kills,
    operations: model.acknowledged,
    webhooks: endpoint.counts,
    deletesProven: model.deadMarkers.size,
    bytesSearched,
    vectorsSought: model.vectorsSought,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    violations: model.violations,
    folder: model.violations.length === 0 ? null : folder,
  }
}

async function start(dataDir: string, model: Model): Promise<{ victim: Victim; url: string }> {
  const victim = startVictim(dataDir)
  const url = (await victim.address) ?? ''
  if (!url || !(await untilReady(url, victim))) model.violated('the service did not become ready')
  return { victim, url }
}

async function makeKeys(dataDir: string, victim: Victim) {
  const key = /API key +(\S+)/.exec(victim.printed())?.[1] ?? ''
  const project = 'default'
  const args = ['key', 'create', '--project', project, '--name', 'ingest', '--kind', 'ingest', '--json']
  const { out } = await startCommand(dataDir, args).done
  await startCommand(dataDir, [
    'project',
    'set',
    project,
    '--redact',
    redactionKinds.join(','),
    '--country',
    'US',
  ]).done
  return { project, key, ingestKey: String(JSON.parse(out).key) }
}

async function makeWebhook(dataDir: string, endpoint: WebhookEndpoint): Promise<void> {
  const args = ['webhook', 'create', '--project', 'default', '--url', await endpoint.listen(), '--json']
  const { out } = await startCommand(dataDir, args).done
  endpoint.signedBy(String(JSON.parse(out).secret))
}

interface MomentOptions {
  chance: Chance
  dataDir: string
  deleted: Promise<void>
}

/** Waits under load for the moment of the kill. */
async function untilMoment(moment: Moment, { chance, dataDir, deleted }: MomentOptions): Promise<void> {
  if (moment === 'load' || moment === 'start') return await sleep(chance.between(30, 1_500))
  if (moment === 'erasure') {
    await sleep(chance.between(100, 600))
    await Promise.race([deleted, sleep(3_000)])
    return await sleep(chance.between(0, 600))
  }
  await sleep(chance.between(100, 600))
  const deadline = performance.now() + 4_000
  while (performance.now() < deadline && !isSaving(join(dataDir, 'indexes'))) await sleep(0)
  await sleep(chance.between(0, 4))
}

function isSaving(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.tmp'))
}

/** Kills the service during its start: while it recovers the log, finishes open erasures and loads index files. */
async function killStarts(dataDir: string, chance: Chance): Promise<number> {
  const times = chance.between(1, 3)
  for (let time = 0; time < times; time++) {
    const victim = startVictim(dataDir)
    await sleep(chance.between(80, 700))
    await victim.kill()
  }
  return times
}

/** Reports internal errors that the service logged. */
function readLog(dataDir: string, model: Model): void {
  const lines = readFileSync(logOf(dataDir), 'utf8').split('\n')
  for (const line of lines) {
    if (!line.includes('"internal"') && !line.includes('the process ends')) continue
    model.violated(`the service logged ${line.slice(0, 500)}`)
  }
}
