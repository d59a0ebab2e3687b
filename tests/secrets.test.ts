import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { openDatabase } from '../src/db/open.ts'
import { freshFolder } from './support/at-end.ts'
import { startFakeChat } from './support/fake-chat.ts'
import { startFakeEmbeddings } from './support/fake-embeddings.ts'
import { repository } from './support/process.ts'
import { spawnService } from './support/spawned.ts'
import { until } from './support/until.ts'

const token = 'hf_secretTokenOfTheProvider'
const metricsToken = 'metrics-secret-token'
const modelToken = 'secretTokenOfTheModel'
const words = 'Xylophonic quandary of the caller'
const phone = '+15550109999'
const dataDir = freshFolder()
const embeddings = await startFakeEmbeddings()
const chat = await startFakeChat({ token: modelToken })
const settings = {
  DATA_DIR: dataDir,
  EMBEDDING_ENDPOINT: embeddings.url,
  HF_TOKEN: token,
  METRICS_TOKEN: metricsToken,
  ANALYSIS_MODEL: 'judge',
  ANALYSIS_ENDPOINT: chat.url,
  ANALYSIS_TOKEN: modelToken,
  ANALYSIS_DELAY_SECONDS: '0',
  LOG_LEVEL: 'trace',
  LOG_FORMAT: 'json',
  INDEX_WAIT_MS: '200',
}
const answers: string[] = []
const commandLines: string[] = []

const service = await spawnService(settings)
const keys: { live: string; ingest: string } = { live: service.key, ingest: (await create('ingest')).key }
await exerciseEverything()
await service.stop()

async function create(kind: string): Promise<{ id: string; key: string }> {
  const args = [
    'scripts/callbook.ts',
    'key',
    'create',
    '--project',
    'default',
    '--name',
    kind,
    '--kind',
    kind,
    '--json',
  ]
  const child = Bun.spawn(['bun', ...args], {
    cwd: repository,
    env: { PATH: process.env.PATH, ...settings },
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  answers.push(err)
  return JSON.parse(out)
}

async function ask(method: string, path: string, key: string, body?: unknown) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return await answer.text()
}

/** Good requests, bad ones, failing ones; what is said of the failing ones is kept. */
async function exerciseEverything(): Promise<void> {
  const { live, ingest } = keys
  await ask('PUT', '/ingest/calls/c1', ingest, { summary: words, callerNumber: phone, metadata: { words } })
  await ask('POST', '/v1/knowledge', live, { name: words, text: `${words} at length.` })
  await ask('POST', '/v1/knowledge/search', live, { query: words })
  embeddings.always({ status: 401, body: { error: `bad token ${token}` } })
  await ask('POST', '/v1/knowledge', live, { name: words, text: `Again: ${words}.` })
  await ask('POST', '/v1/knowledge/search', live, { query: `${words} again` })
  await ask('PUT', '/v1/rubric', live, { summary: { instructions: words }, criteria: [] })
  const ended = { status: 'completed', transcript: [{ role: 'user', content: words }] }
  await ask('PUT', '/ingest/calls/c2', ingest, ended)
  await until(async () => (await ask('GET', '/v1/calls/c2/analysis', live)).includes('"done"'))
  // It repeats what it was sent, and refuses it.
  chat.always({ status: 400 })
  answers.push(await ask('POST', '/v1/rubric/trial', live, { call: 'c2' }))
  chat.always({ status: 401, body: { error: `bad token ${modelToken}: ${words}` } })
  answers.push(await ask('POST', '/v1/rubric/trial', live, { call: 'c2' }))
  await ask('DELETE', '/v1/calls/c2', live)
  answers.push(
    await ask('PUT', '/ingest/calls/c1', ingest, `{"summary": "${words}`),
    await ask('PUT', '/ingest/calls/c1', ingest, { duration: words }),
    await ask('PUT', `/ingest/calls/${encodeURIComponent(words)}`, ingest, {}),
    await ask('GET', `/v1/calls/${live}`, live),
    await ask('GET', '/v1/calls', `${live.slice(0, -1)}x`),
    await ask('GET', '/v1/calls', ingest),
    await ask('PUT', '/ingest/calls/c1', live, {}),
    await ask('GET', '/metrics', live),
    await (
      await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
    ).text(),
    await (await fetch(`${service.url}/v1/calls?key=${live}`)).text(),
  )
  await ask('DELETE', '/v1/calls/c1', live)
  if (process.platform === 'linux')
    commandLines.push(readFileSync(`/proc/${service.child.pid}/cmdline`, 'utf8'))
}

/** Keys may be told by their hash and their last four characters only. */
function secretsOf(): [string, string][] {
  return [
    ['the API key', keys.live.slice('ck_live_'.length, -4)],
    ['the ingest key', keys.ingest.slice('ck_ingest_'.length, -4)],
    ["the provider's token", token],
    ['the token for metrics', metricsToken],
    ["the model's token", modelToken],
  ]
}

test("no key, token, text or caller's number is in the log, however requests fail", () => {
  const log = service.stderr()
  expect(log.split('\n').length).toBeGreaterThan(15)
  for (const [name, secret] of [...secretsOf(), ['a text', 'Xylophonic'], ['a number', phone]])
    expect({ name, isLogged: log.includes(String(secret)) }).toEqual({ name: String(name), isLogged: false })
  expect(service.stdout().split(keys.live)).toHaveLength(2)
})

test('no error, metric or command shows a secret or the content of a request', () => {
  const said = answers.join('\n')
  expect(said).toContain('callbook_')
  for (const [name, secret] of [...secretsOf(), ['a text', 'Xylophonic']])
    expect({ name, isSaid: said.includes(String(secret)) }).toEqual({ name: String(name), isSaid: false })
})

test('no secret is in the list of processes', () => {
  for (const [name, secret] of secretsOf())
    expect({ name, isListed: commandLines.join().includes(secret) }).toEqual({ name, isListed: false })
})

test("no key and no token is in any file; the service's own secrets are only in the database", async () => {
  const database = await openDatabase(join(dataDir, 'callbook.db'))
  const rows = await database.read.all<{ name: string; value: string }>(
    sql`select name, value from meta where name in ('id_hash_key', 'session_secret')`,
  )
  await database.close()
  expect(rows).toHaveLength(2)
  let files = 0
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    files++
    const bytes = readFileSync(join(entry.parentPath, entry.name), 'latin1')
    for (const [name, secret] of secretsOf())
      expect({ name, file: entry.name, isThere: bytes.includes(secret) }).toEqual({
        name,
        file: entry.name,
        isThere: false,
      })
    for (const { name, value } of rows) {
      const isThere = bytes.includes(value)
      if (!entry.name.startsWith('callbook.db'))
        expect({ name, file: entry.name, isThere }).toMatchObject({ isThere: false })
    }
  }
  expect(files).toBeGreaterThan(2)
})
