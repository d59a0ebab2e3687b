import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import packageJson from '../package.json' with { type: 'json' }
import {
  calls,
  migrationDigests,
  type Release,
  releaseName,
  releasesFolder,
  words,
} from '../scripts/release-folder.ts'
import { emptyDetails } from '../src/calls/details.ts'
import type { CallDetails } from '../src/calls/schemas.ts'
import { freshFolder } from './support/at-end.ts'
import { CommandLine } from './support/command-line.ts'
import { at, type Reached } from './support/node.ts'
import { startService, type TestService } from './support/service.ts'
import { skipped } from './support/skipped.ts'
import { fillDisk, mountSmallDisk } from './support/small-disk.ts'
import { ofFilesOnly } from './support/test-mode.ts'
import { findTraces, tracesOfWord } from './support/traces.ts'
import { until } from './support/until.ts'

// Opens the data folders that released versions made, each by that version: `scripts/release-folder.ts`.

const versions = readdirSync(releasesFolder)
const releaseOf = (version: string): Release =>
  JSON.parse(readFileSync(join(releasesFolder, version, releaseName), 'utf8'))

test('this version has left a folder', () => {
  expect(versions).toContain(packageJson.version)
})

test.each(versions)('no migration of %s was edited', (version) => {
  expect(migrationDigests()).toMatchObject(releaseOf(version).migrations)
})

/** As 1.0.0-rc.1 stored sets of calls. */
const setsOfRc1 = `
  insert into people (id, name, email, email_verified, created_at, updated_at) values ('ada', 'Ada', 'ada@example.com', 1, 0, 0);
  insert into call_sets (id, project_id, person_id, name, calls, created_at, kept_until) select column1, projects.id, 'ada', column2, column3, 0, 9e12
    from (values ('set_queue', 'Queue', 3), ('set_empty', 'Empty', 0), ('set_chosen', null, 1)), projects;
  insert into call_set_slices (set_id, number, seqs) values ('set_queue', 1, '[2]'), ('set_queue', 0, '[3,1]'), ('set_chosen', 0, '[1]');`

const disk = mountSmallDisk(24)
if (!disk) skipped('no disk can be mounted that fills up')

describe.skipIf(ofFilesOnly).each(versions)('a folder of %s', (version) => {
  const folder = freshFolder()
  const dataDir = join(folder, 'data')
  const release = releaseOf(version)
  let service: TestService
  let project: Reached

  beforeAll(async () => {
    cpSync(join(releasesFolder, version, 'data'), dataDir, { recursive: true })
    // As if the call had named its direction, by which calls were not found then.
    const database = new Database(join(dataDir, 'callbook.db'))
    database.exec(`update call_details set details = json_set(details, '$.direction', 'inbound')
      where seq = (select seq from calls where id = '${calls.completed}')`)
    if (version === '1.0.0-rc.1') database.exec(setsOfRc1)
    database.close()
    service = await startService({ dataDir })
    project = at(service, release)
  })

  const read = async (path: string) => {
    const answer = await project.fetch(path)
    return [answer.status, await answer.json()]
  }
  const found = async (query: string, mode: string) => {
    const answer = await project.send('POST', '/v1/knowledge/search', { query, mode })
    return (await answer.json()).data.map(({ name }: { name: string }) => name)
  }

  test('finds its calls by their direction, and says that their versions and parts of costs are unknown', async () => {
    const idsOf = async (query: string) => {
      const [, { data }] = await read(`/v1/calls?fields=id&${query}`)
      return data.map(({ id }: { id: string }) => id)
    }
    expect([await idsOf('direction=inbound'), await idsOf('direction=none')]).toEqual([
      [calls.completed],
      [calls.live],
    ])
    expect(await read(`/v1/calls/${calls.completed}/details`)).toMatchObject([
      200,
      { agent: { version: null }, costParts: null, usage: null, costSource: null },
    ])
  })

  test('has its queues of reviews, each as one row, and nothing of what was only selected', () => {
    const database = new Database(join(dataDir, 'callbook.db'), { readonly: true })
    const sets = database.prepare('select id, seqs from call_sets').raw().all()
    database.close()
    expect(sets).toEqual([
      ['set_queue', '[3,1,2]'],
      ['set_empty', '[]'],
    ])
  })

  test('has its calls, with all that is known of them', async () => {
    expect(await read('/v1/calls?details=include&order=createdAt')).toMatchObject([
      200,
      { data: [{ id: calls.completed }, { id: calls.live }], pagination: { total: 2 } },
    ])
    expect(await read(`/v1/calls/${calls.completed}`)).toMatchObject([
      200,
      { status: 'completed', duration: 41.5, callAnalysis: { topic: words.call, score: 0.5 } },
    ])
    expect(await read(`/v1/calls/${calls.completed}/details`)).toMatchObject([
      200,
      {
        agent: { id: 'front-desk' },
        costUsd: 0.12,
        metadata: { order: words.call },
        recording: { state: 'kept' },
      },
    ])
    const recording = await project.fetch(`/v1/calls/${calls.completed}/recording`)
    expect([recording.status, (await recording.bytes()).byteLength]).toEqual([200, 6_444])
    expect(await read(`/v1/calls?text=${words.call}`)).toMatchObject([
      200,
      { data: [{ id: calls.completed }] },
    ])
    expect(await read(`/v1/calls?text=${words.deleted}`)).toMatchObject([200, { data: [] }])
  })

  test('has its recording measured', async () => {
    const soundOf = async (id: string) =>
      ((await read(`/v1/calls/${id}/details`)) as [number, CallDetails])[1].sound
    await until(async () => (await soundOf(calls.completed)).state === 'unmeasured')
    expect(await soundOf(calls.completed)).toMatchObject({ reason: 'short', version: 1 })
    expect(await soundOf(calls.live)).toEqual(emptyDetails.sound)
    expect(await read('/v1/calls?sound=unmeasured')).toMatchObject([200, { data: [{ id: calls.completed }] }])
    expect(await read('/v1/calls?sound=waiting')).toMatchObject([200, { data: [] }])
  })

  test('has its knowledge, found by words and by vectors', async () => {
    const name = `About the ${words.item}`
    expect(await read('/v1/knowledge')).toMatchObject([200, [{ name }]])
    for (const mode of ['keyword', 'vector'])
      expect([mode, await found(words.item, mode)]).toEqual([mode, [name]])
  })

  test('has its settings', async () => {
    expect(await read('/v1/rubric')).toMatchObject([200, { version: 1, criteria: [{ id: 'greeted' }] }])
    expect(await read('/v1/alerts')).toMatchObject([200, { data: [{ name: 'Very many calls' }] }])
    const callbook = new CommandLine(dataDir)
    for (const noun of ['source', 'webhook'])
      expect((await callbook.json([noun, 'list', '--project', 'released'])).value).toHaveLength(1)
  })

  test('takes new records, and erases old ones to the last byte', async () => {
    expect((await project.send('PUT', '/ingest/calls/new', { summary: 'from this version' })).status).toBe(
      201,
    )
    expect((await project.send('PUT', '/ingest/calls/deleted', {})).status).toBe(410)
    expect((await project.fetch(`/v1/calls/${calls.completed}`, { method: 'DELETE' })).status).toBe(200)
    await until(async () => {
      const [, erasure] = await read(`/v1/erasures/${calls.completed}`)
      return erasure.status === 'done'
    })
    const traces = [words.call, words.deleted].flatMap((word) => tracesOfWord(word.slice(0, 6)))
    expect(await findTraces(dataDir, traces)).toEqual([])
  })

  test.skipIf(!disk)('is refused in a sentence where its disk has no room for the upgrade', async () => {
    const full = mountSmallDisk(24) ?? ''
    const [file, filler] = [join(full, 'callbook.db'), join(full, 'filler')]
    cpSync(join(releasesFolder, version, 'data'), full, { recursive: true })
    const before = readFileSync(file)
    // Room for what SQLite keeps beside the file, and not for the log.
    writeFileSync(join(full, 'spare'), Buffer.alloc(131_072, 1))
    fillDisk(filler)
    rmSync(join(full, 'spare'))
    const refused =
      /takes up to \d\.\d MB on the disk of .*, of which 0\.1 MB are free\. Nothing was changed\./
    const { code, err } = await new CommandLine(full).run(['project', 'list'])
    expect([code, err]).toEqual([1, expect.stringMatching(refused)])
    expect(String(await startService({ dataDir: full }).catch(String))).toMatch(refused)
    expect([statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0, readFileSync(file)]).toEqual([
      0,
      before,
    ])
    rmSync(filler)
    const upgraded = await startService({ dataDir: full })
    expect((await at(upgraded, release).fetch(`/v1/calls/${calls.completed}`)).status).toBe(200)
    await upgraded.stop()
  })

  test('can be gone back to by a backup, which the upgrade leaves in the form of that version', async () => {
    const inFolder = (name: string) => join(folder, name)
    const [live, backup, restored] = [inFolder('live'), inFolder('backup'), inFolder('restored')]
    cpSync(join(releasesFolder, version, 'data'), live, { recursive: true })
    expect(await new CommandLine(live).run(['backup', backup])).toMatchObject({ code: 0, err: '' })
    const upgraded = await startService({ dataDir: live })
    const { fetch, send } = at(upgraded, release)
    expect((await fetch(`/v1/calls/${calls.completed}`, { method: 'DELETE' })).status).toBe(200)
    expect((await send('PUT', '/ingest/calls/later', { summary: 'from this version' })).status).toBe(201)
    await upgraded.stop()

    expect(await new CommandLine(restored).run(['restore', backup])).toMatchObject({ code: 0, err: '' })
    const database = new Database(join(restored, 'callbook.db'), { readonly: true })
    const column = (query: string) => database.prepare(query).pluck().all()
    expect(column('select hash from __drizzle_migrations')).toEqual(Object.values(release.migrations))
    expect(column('select id from calls order by id')).toEqual([calls.completed, calls.live])
    expect(column('select calls from projects')).toEqual([2])
    database.close()
  })

  test('has a sound database and index', async () => {
    const database = new Database(join(dataDir, 'callbook.db'), { readonly: true })
    expect(database.prepare('pragma integrity_check').pluck().all()).toEqual(['ok'])
    expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
    database.close()
    expect((await new CommandLine(dataDir).run(['index', 'verify'])).code).toBe(0)
  })
})

describe.skipIf(ofFilesOnly)('a database that this version did not make', () => {
  test('is refused when another program made it, and left alone', async () => {
    const folder = freshFolder()
    const file = join(folder, 'callbook.db')
    const database = new Database(file)
    database.exec('create table calls (id integer primary key, note text)')
    database.close()
    const refused = 'was written by another program'
    expect(String(await startService({ dataDir: folder }).catch(String))).toContain(refused)
    const { value } = await new CommandLine(folder).json(['doctor'])
    expect(value.at(-1)).toMatchObject({ detail: expect.stringContaining(refused) })
    const after = new Database(file, { readonly: true })
    expect(after.prepare("select name from sqlite_master where type = 'table'").pluck().all()).toEqual([
      'calls',
    ])
    after.close()
  })
})
