import { describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { freshFolder } from '../support/at-end.ts'
import { CommandLine } from '../support/command-line.ts'
import { addMarkedCall, addMarkedItem } from '../support/marked.ts'
import { repository } from '../support/process.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject } from '../support/service.ts'
import { findTraces, untilInFiles } from '../support/traces.ts'
import { until } from '../support/until.ts'

const callbook = (dataDir: string, ...args: string[]) => new CommandLine(dataDir).run(args)

/** The same project of another service on a copy of its data. */
function requestsTo(url: string, { key, ingestKey }: TestProject) {
  return (path: string, init: RequestInit = {}) =>
    fetch(url + path, {
      ...init,
      headers: {
        authorization: `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`,
        'content-type': 'application/json',
      },
    })
}

function bytesUnder(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

async function backUpSome({
  withRecording = false,
} = {}): Promise<{ dataDir: string; backup: string; project: TestProject; itemId: string }> {
  const dataDir = freshFolder()
  const service = await startService({ dataDir })
  const project = await service.mintProject()
  await project.send('PUT', '/ingest/calls/kept', { summary: 'kept summary' })
  if (withRecording) await project.fetch('/ingest/calls/kept/recording', { method: 'PUT', body: madeWav() })
  await project.send('PUT', '/ingest/calls/gone', { summary: 'gone summary' })
  await project.fetch('/v1/calls/gone', { method: 'DELETE' })
  const item = await (
    await project.send('POST', '/v1/knowledge', { name: 'Refunds', text: 'We refund within thirty days.' })
  ).json()
  const backup = join(freshFolder(), 'backup')
  const ran = await callbook(dataDir, 'backup', backup)
  await service.stop()
  expect(ran).toMatchObject({ code: 0, err: '' })
  return { dataDir, backup, project, itemId: item.id }
}

describe('a backup', () => {
  test('taken under load holds every write that was acknowledged before it began, and no partial write', async () => {
    const dataDir = freshFolder()
    const service = await startService({ dataDir })
    const project = await service.mintProject()
    const acknowledged = {
      calls: new Map<string, number>(),
      items: new Map<string, string>(),
      gone: [] as string[],
    }
    let isWriting = true
    const writeCalls = async (name: string) => {
      for (let n = 0; isWriting; n++) {
        const id = `${name}-${n % 40}`
        const turns = [{ role: 'user', content: `turn ${n}` }]
        const answer = await project.send('PUT', `/ingest/calls/${id}`, { duration: n, transcript: turns })
        if (answer.ok) acknowledged.calls.set(id, n)
      }
    }
    const writeItems = async () => {
      for (let n = 0; isWriting; n++) {
        const text = `# Item ${n}\n\nWords of item ${n}, as they were sent. ${'more words '.repeat(n % 200)}`
        const { id } = await (await project.send('POST', '/v1/knowledge', { name: `Item ${n}`, text })).json()
        if (n % 3 > 0) acknowledged.items.set(id, text)
        else if ((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).ok)
          acknowledged.gone.push(id)
      }
    }
    const writers = [writeCalls('a'), writeCalls('b'), writeItems()]
    while (acknowledged.items.size < 20 || acknowledged.calls.size < 80) await Bun.sleep(10)
    const before = {
      calls: new Map(acknowledged.calls),
      items: new Map(acknowledged.items),
      gone: [...acknowledged.gone],
    }

    const backup = join(freshFolder(), 'backup')
    const ran = await new CommandLine(dataDir).spawned(['backup', backup, '--json'])
    expect(ran).toMatchObject({ code: 0, err: '' })
    isWriting = false
    await Promise.all(writers)
    await service.stop()
    const manifest = JSON.parse(ran.out)
    expect(manifest.holds.calls).toBe(80)
    expect(manifest.holds.knowledgeItems).toBeGreaterThanOrEqual(before.items.size)

    const restored = freshFolder()
    expect(await callbook(restored, 'restore', backup)).toMatchObject({ code: 0, err: '' })
    const copy = await startService({ dataDir: restored })
    const ask = requestsTo(copy.url, project)
    for (const [id, n] of before.calls) {
      const call = await (await ask(`/v1/calls/${id}`)).json()
      expect(call.duration).toBeGreaterThanOrEqual(n)
      expect(call.transcript).toEqual([{ role: 'user', content: `turn ${call.duration}` }])
    }
    const items: { id: string; name: string; text: string }[] = await (await ask('/v1/knowledge')).json()
    const texts = new Map(items.map(({ id, text }) => [id, text]))
    for (const [id, text] of before.items) expect(texts.get(id)).toBe(text)
    for (const id of before.gone) expect(texts.has(id)).toBe(false)
    for (const { name, text } of items) expect(text).toStartWith(`# ${name}\n`)
    const found = await ask('/v1/knowledge/search', {
      method: 'POST',
      body: JSON.stringify({ query: 'Words of item 4', timeoutMs: 10_000 }),
    })
    expect((await found.json()).mode).toBe('hybrid')
    await copy.stop()
    expect(await callbook(restored, 'index', 'verify')).toMatchObject({ code: 0 })
  })

  test('holds nothing that was deleted before it, and only its owner can read it', async () => {
    const dataDir = freshFolder()
    // So late that the backup comes before the erasure.
    const service = await startService({ dataDir, env: { ERASE_WITHIN_MS: '600000' } })
    const project = await service.mintProject()
    const text = `${'Quagmire fjordbank '.repeat(300)} xylographia`
    const { id } = await (await project.send('POST', '/v1/knowledge', { name: 'Marked', text })).json()
    await project.send('POST', '/v1/knowledge', { name: 'Other', text: 'Other words stay here.' })
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    // By another process: this one would lose SQLite's locks on the file.
    expect(Bun.spawnSync(['grep', '-rqai', 'quagmire', dataDir]).success).toBe(true)

    const backup = join(freshFolder(), 'deep', 'backup')
    expect(await callbook(dataDir, 'backup', backup)).toMatchObject({ code: 0 })
    await service.stop()
    const bytes = bytesUnder(backup)
    expect(bytes.includes('Other words stay here.')).toBe(true)
    expect(bytes.toLowerCase().match(/quagmire|fjordban|xylograph/)).toBeNull()
    expect(statSync(backup).mode & 0o777).toBe(0o700)
    expect(readdirSync(backup).sort()).toEqual(['callbook.db', 'manifest.json'])
    for (const name of readdirSync(backup)) expect(statSync(join(backup, name)).mode & 0o777).toBe(0o600)
  })

  test("keeps what is deleted after it, for the operator to delete; the service's folder does not", async () => {
    const dataDir = freshFolder()
    const service = await startService({ dataDir, env: { ERASE_WITHIN_MS: '1000' } })
    const project = await service.mintProject()
    const records = [await addMarkedItem(project), await addMarkedCall(project)]
    const traces = records.flatMap((record) => record.traces)
    const backup = join(freshFolder(), 'backup')
    expect(await callbook(dataDir, 'backup', backup)).toMatchObject({ code: 0 })

    for (const { path } of records) expect((await project.fetch(path, { method: 'DELETE' })).status).toBe(200)
    const isErased = async ({ id }: { id: string }) =>
      (await (await project.fetch(`/v1/erasures/${id}`)).json()).status === 'done'
    await until(async () => (await Promise.all(records.map(isErased))).every(Boolean), 'Erasing')
    expect(await findTraces(dataDir, traces)).toEqual([])
    // A backup has no index files, which are made from the rows.
    const ofRows = traces.filter(({ name }) => !name.includes('of the index'))
    await untilInFiles(backup, ofRows)
    await service.stop()
  })

  test('refuses a folder that is not empty or is inside the data folder', async () => {
    const dataDir = freshFolder()
    await (await startService({ dataDir })).stop()
    const full = freshFolder()
    writeFileSync(join(full, 'mine.txt'), 'mine')
    expect(await callbook(dataDir, 'backup', full)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not empty'),
    })
    expect(readdirSync(full)).toEqual(['mine.txt'])
    const inside = join(dataDir, 'backups')
    expect(await callbook(dataDir, 'backup', inside)).toMatchObject({
      code: 1,
      err: expect.stringContaining('is inside'),
    })
    expect(existsSync(inside)).toBe(false)
    const nothing = freshFolder()
    expect(await callbook(nothing, 'backup', join(nothing, 'b'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('There is no database at'),
    })
  })
})

/** Ends the process once the recordings are linked, right before the database is put in its place. */
const killedRestore = `
  import { mock } from 'bun:test'
  import * as files from 'node:fs/promises'
  const { rm } = files
  const kill = (path, options) => (String(path).endsWith('indexes') ? process.exit(9) : rm(path, options))
  mock.module('node:fs/promises', () => ({ ...files, rm: kill }))
  const { restore } = await import('./src/db/backup.ts')
  const [folder, dataDir] = process.argv.slice(-2)
  const { signal } = new AbortController()
  await restore({ folder, dataDir, target: dataDir + '/callbook.db', keepReview: () => '', setupHash: 'x', signal })`

describe('a restore', () => {
  test('keeps keys and tombstones, and gets a generation of its own', async () => {
    const { dataDir, backup, project, itemId } = await backUpSome()
    const restored = freshFolder()
    const ran = await callbook(restored, 'restore', backup)
    expect(ran).toMatchObject({ code: 0, err: '' })
    // Index files of the same project with the same rows: only the generation tells them apart.
    mkdirSync(join(restored, 'indexes'), { recursive: true })
    const [indexFile = ''] = readdirSync(join(dataDir, 'indexes'))
    expect(indexFile).toEndWith('.hnsw')
    cpSync(join(dataDir, 'indexes', indexFile), join(restored, 'indexes', indexFile))

    const service = await startService({ dataDir: restored })
    const ask = requestsTo(service.url, project)
    expect((await (await ask('/v1/calls/kept')).json()).summary).toBe('kept summary')
    expect((await ask(`/v1/knowledge/${itemId}`)).status).toBe(200)
    expect((await ask('/ingest/calls/gone', { method: 'PUT', body: '{}' })).status).toBe(410)
    // The file of a small project is read when the project's knowledge changes.
    const item = { method: 'POST', body: JSON.stringify({ name: 'Later', text: 'Added after the restore.' }) }
    expect((await ask('/v1/knowledge', item)).status).toBe(201)
    await until(() => service.logs.some(({ problem }) => problem === 'it is of another database'))
    await service.stop()
    expect(await callbook(restored, 'index', 'verify')).toMatchObject({ code: 0 })
  })

  test('ends every one-time link, and makes one that sets up a console without an owner', async () => {
    const dataDir = freshFolder()
    const service = await startService({ dataDir })
    const { setupToken } = await bootstrap(service.services)
    const [before, after] = [join(freshFolder(), 'backup'), join(freshFolder(), 'backup')]
    expect(await callbook(dataDir, 'backup', before)).toMatchObject({ code: 0 })
    const person = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }
    const setUp = (url: string, token: string | null) =>
      fetch(`${url}/console/api/links/setup`, {
        method: 'POST',
        body: JSON.stringify({ token, ...person }),
        headers: { 'content-type': 'application/json', origin: url },
      })
    expect((await setUp(service.url, setupToken)).status).toBe(200)
    const { link } = await service.services.console.invitations.createPasswordLink(person.email, service.url)
    expect(await callbook(dataDir, 'backup', after)).toMatchObject({ code: 0 })
    await service.stop()

    const unowned = freshFolder()
    const { setupLink } = JSON.parse((await callbook(unowned, 'restore', before, '--json')).out)
    const copy = await startService({ dataDir: unowned })
    expect((await setUp(copy.url, setupToken)).status).toBe(404)
    expect((await setUp(copy.url, new URL(setupLink).hash.slice(1))).status).toBe(200)
    await copy.stop()

    const owned = freshFolder()
    expect((await callbook(owned, 'restore', after)).out).toContain('bun callbook person reset')
    const other = await startService({ dataDir: owned })
    const check = await fetch(`${other.url}/console/api/links/check`, {
      method: 'POST',
      body: JSON.stringify({ token: new URL(link).hash.slice(1) }),
      headers: { 'content-type': 'application/json', origin: other.url },
    })
    expect(check.status).toBe(404)
    await other.stop()
  })

  test('refuses a backup that was changed, cut short or left unfinished, and leaves nothing behind', async () => {
    const { backup } = await backUpSome()
    const tamper = (change: (folder: string) => void) => {
      const folder = freshFolder()
      cpSync(backup, folder, { recursive: true })
      change(folder)
      return folder
    }
    const rewrite = (name: string, change: (bytes: Buffer) => Buffer | string) => (folder: string) =>
      writeFileSync(join(folder, name), change(readFileSync(join(folder, name))))
    const flipped = (bytes: Buffer) => {
      const at = Math.floor(bytes.length / 2)
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      return bytes
    }
    const cases = [
      {
        folder: tamper(rewrite('callbook.db', flipped)),
        says: 'is not the file that the manifest describes',
      },
      {
        folder: tamper(rewrite('callbook.db', (bytes) => bytes.subarray(0, -4096))),
        says: 'is not the file that the manifest describes',
      },
      { folder: tamper(rewrite('manifest.json', () => '{"format":1}')), says: 'is damaged' },
      { folder: tamper(rewrite('manifest.json', () => 'null')), says: 'is damaged' },
      {
        folder: tamper(
          rewrite('manifest.json', (bytes) => bytes.toString().replace('"format": 1', '"format": 2')),
        ),
        says: 'newer version',
      },
      { folder: freshFolder(), says: 'is not a backup' },
    ]
    for (const { folder, says } of cases) {
      const restored = freshFolder()
      const ran = await callbook(restored, 'restore', folder)
      expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining(says) })
      expect(readdirSync(restored).filter((name) => name.startsWith('callbook.db'))).toEqual([])
    }
  })

  test('that was killed stops the start, which says how to go on; the next one leaves nothing of it', async () => {
    const { backup, dataDir } = await backUpSome({ withRecording: true })
    const restored = freshFolder()
    const child = Bun.spawn(['bun', '-e', killedRestore, '--', backup, restored], { cwd: repository })
    expect(await child.exited).toBe(9)
    const drafts = () => readdirSync(restored).filter((name) => name.includes('restored'))
    expect(drafts()).toContain('callbook.db.restored')
    // What a kill within a transaction of SQLite, or while another backup is compared, leaves beside it.
    for (const suffix of ['-journal', '.newer'])
      writeFileSync(join(restored, `callbook.db.restored${suffix}`), 'kept summary')
    const failure = await startService({ dataDir: restored }).catch((error) => error)
    expect(String(failure)).toContain('bun callbook restore')
    expect(existsSync(join(restored, 'callbook.db'))).toBe(false)
    const [recording = ''] = readdirSync(join(dataDir, 'recordings')).filter((name) => name !== 'incoming')
    rmSync(join(restored, 'recordings', recording))
    writeFileSync(join(restored, 'recordings', recording), 'half of a copy')
    expect(await callbook(restored, 'restore', backup)).toMatchObject({ code: 0, err: '' })
    expect(drafts()).toEqual([])
    const both = [dataDir, restored].map((folder) => readFileSync(join(folder, 'recordings', recording)))
    expect(both[1]?.equals(both[0] ?? Buffer.of())).toBe(true)
    // A draft beside a database that is there is left of a restore that nobody needs.
    writeFileSync(join(restored, 'callbook.db.restored'), 'kept summary')
    const service = await startService({ dataDir: restored })
    expect(drafts()).toEqual([])
    await service.stop()
  })

  test('overwrites nothing, with or without a service that runs there', async () => {
    const { backup, dataDir } = await backUpSome()
    const before = readFileSync(join(dataDir, 'callbook.db'))
    expect(await callbook(dataDir, 'restore', backup)).toMatchObject({
      code: 1,
      err: expect.stringContaining('exists already'),
    })
    expect(readFileSync(join(dataDir, 'callbook.db')).equals(before)).toBe(true)
  })
})
