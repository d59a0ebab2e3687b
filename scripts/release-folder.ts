import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { soundOf } from '../src/demo/sound.ts'
import { createServer } from '../src/server.ts'
import type { Services } from '../src/services/services.ts'
import { type Dataset, makeDataset, withServices } from './dataset.ts'
import { repository } from './repository.ts'
import { temporaryFolder } from './temporary.ts'

// Makes the data folder that later versions must open: `bun scripts/release-folder.ts`, once for each release, before its tag.
// tests/upgrades.test.ts opens the folders of all releases.

/** Where the folders of released versions are. */
export const releasesFolder = join(repository, 'tests', 'upgrades')
const migrationsFolder = join(repository, 'src', 'db', 'migrations')

/** What stands beside a release's data folder. */
export interface Release {
  /** SHA-256 of each migration, by its file. */
  migrations: Record<string, string>
  /** Of the only project. They guard nothing: the folder is public. */
  key: string
  ingestKey: string
}

export const releaseName = 'release.json'
export const calls = { completed: 'call-1', live: 'call-2' }
/** What a completed call and an item are about, and what those said that were deleted. */
export const words = { call: 'invoice', item: 'thermostat', deleted: 'marmalade' }

if (import.meta.main) await makeReleaseFolder(join(releasesFolder, packageJson.version))

async function makeReleaseFolder(target: string): Promise<void> {
  if (existsSync(target)) throw new Error(`${target} is there already. A released version does not change.`)
  const dataset = await makeDataset({ folder: temporaryFolder(), name: 'released' })
  await withServices(dataset.folder, (services) => fill(services, dataset))
  mkdirSync(target, { recursive: true })
  // The ballast is zeros, and each start makes it again; the rest belonged to the process.
  cpSync(dataset.folder, join(target, 'data'), {
    recursive: true,
    filter: (path) => !/\.lock$|-ballast$|-shm$|-wal$|\/address$/.test(path),
  })
  const { key, ingestKey } = dataset
  const release: Release = { migrations: migrationDigests(), key, ingestKey }
  writeFileSync(join(target, releaseName), `${JSON.stringify(release, null, 2)}\n`)
}

/** One of each thing that a later version has to find again, and a deleted call and item. */
async function fill(services: Services, { projectId, key, ingestKey }: Dataset): Promise<void> {
  const app = createServer(services, () => null)
  const send = async (method: string, path: string, body: unknown, type = 'application/json') => {
    const headers = {
      authorization: `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`,
      'content-type': type,
    }
    const sent = body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
    const answer = await app.handle(new Request(`http://localhost${path}`, { method, headers, body: sent }))
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return await answer.json()
  }
  for (const [id, word] of [
    [calls.completed, words.call],
    ['deleted', words.deleted],
  ] as const)
    await send('PUT', `/ingest/calls/${id}`, callAbout(word))
  await send('PUT', `/ingest/calls/${calls.live}`, { transcript: [{ role: 'user', content: 'Hello?' }] })
  await send('PUT', `/ingest/calls/${calls.completed}/recording`, soundOf({ duration: 0.2 }), 'audio/wav')
  const text = (word: string) => ({
    name: `About the ${word}`,
    text: `## Use\n\nTurn the ${word} to the left.`,
  })
  await send('POST', '/v1/knowledge', text(words.item))
  const { id } = await send('POST', '/v1/knowledge', text(words.deleted))
  await send('PUT', '/v1/rubric', {
    criteria: [{ id: 'greeted', name: 'Greeted', question: 'Did the agent greet?' }],
  })
  const { id: webhook } = await services.webhooks.create(projectId, {
    url: 'https://hooks.example.invalid/callbook',
  })
  await send('POST', '/v1/alerts', alertTo(webhook))
  await services.sources.create(projectId, { platform: 'vapi', name: 'Vapi' })
  for (const path of ['/v1/calls/deleted', `/v1/knowledge/${id}`]) await send('DELETE', path, undefined)
}

/** A call that a platform has told everything about. */
function callAbout(word: string) {
  return {
    status: 'completed',
    duration: 41.5,
    summary: `A question about the ${word}.`,
    evaluation: 'success',
    isEngaged: true,
    endedReason: 'customer-ended-call',
    callerNumber: '+15557294053',
    callAnalysis: { topic: word, score: 0.5 },
    createdAt: '2026-11-20T09:30:00.000Z',
    updatedAt: '2026-11-20T09:31:00.000Z',
    transcript: [
      { role: 'user', content: `Where is my ${word}?` },
      { role: 'assistant', content: 'I look for it.' },
    ],
    metadata: { order: word },
    details: { agent: { id: 'front-desk', name: 'Front desk' }, costUsd: 0.12, latencyMs: 800 },
  }
}

/** A rule that never fires. */
function alertTo(webhook: string) {
  return {
    name: 'Very many calls',
    filters: {},
    of: 'calls',
    show: 'count',
    windowMinutes: 60,
    above: { alert: 1_000_000 },
    repeatMinutes: null,
    to: [{ webhook }],
    paused: false,
  }
}

/** The SHA-256 of each migration of this tree, by its file. */
export function migrationDigests(): Record<string, string> {
  const files = readdirSync(migrationsFolder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const digestOf = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(migrationsFolder, name)))
      .digest('hex')
  return Object.fromEntries(files.map((name) => [name, digestOf(name)]))
}
