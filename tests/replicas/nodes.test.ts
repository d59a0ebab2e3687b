import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { sql } from 'drizzle-orm'
import { openDatabase } from '../../src/db/open.ts'
import { segmentTable } from '../../src/db/word-segments.ts'
import { bootstrap } from '../../src/start/bootstrap.ts'
import { putCalls, said } from '../calls/put-calls.ts'
import { freshFolder } from '../support/at-end.ts'
import { openCommand } from '../support/command.ts'
import { at, foundByVector, startNode } from '../support/node.ts'
import { type Primary, startPrimary } from '../support/primary.ts'
import type { TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

const primary = await startPrimary()
// Both migrate an empty primary at once.
const nodes = await Promise.all([startNode(primary), startNode(primary)])
const first = nodes[0]
const second = nodes[1]

afterAll(async () => {
  await first.stop()
  await second.stop()
})

describe('two nodes of one primary', () => {
  test('that start at once create one first key and one set-up link', async () => {
    const made = await Promise.all([bootstrap(first.services), bootstrap(second.services)])
    expect(made.filter(({ firstKey }) => firstKey !== null)).toHaveLength(1)
    expect(made.filter(({ setupToken }) => setupToken !== null)).toHaveLength(1)
  })

  test('show their own acknowledged writes at once, and those of the other soon', async () => {
    const project = await first.mintProject()
    for (let n = 0; n < 20; n++) {
      const id = `call-${n}`
      expect((await project.send('PUT', `/ingest/calls/${id}`, { summary: `No. ${n}` })).status).toBe(201)
      expect((await project.fetch(`/v1/calls/${id}`)).status).toBe(200)
      if (n % 3 > 0) continue
      expect((await project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })).status).toBe(200)
      expect((await project.fetch(`/v1/calls/${id}`)).status).toBe(404)
    }
    const there = at(second, project)
    await until(async () => (await there.fetch('/v1/calls/call-19')).status === 200)
    expect(await bodyOf(there.fetch('/v1/calls'))).toBe(await bodyOf(project.fetch('/v1/calls')))
    // The other node writes through as well, on top of what this one wrote.
    expect((await there.send('PUT', '/ingest/calls/call-19', { duration: 7 })).status).toBe(200)
    expect(await bodyOf(there.fetch('/v1/calls/call-19'))).toContain('"duration":7')
  })

  test('wake readers that wait for a change when the other makes one, and give both the same feed', async () => {
    const project = await first.mintProject()
    const there = at(second, project)
    await until(async () => (await there.fetch('/v1/changes')).status === 200)
    for (const [n, writer] of [project, there, project].entries()) {
      const changes = `/v1/changes?after=${n}&wait=30`
      const waiting = [bodyOf(project.fetch(changes)), bodyOf(there.fetch(changes))]
      await until(() => first.services.changeWatch.count + second.services.changeWatch.count === 2)
      expect((await writer.send('PUT', `/ingest/calls/feed-${n}`, {})).status).toBe(201)
      const [own, other] = await Promise.all(waiting)
      expect(own).toContain(`"id":"feed-${n}"`)
      expect(other).toBe(own ?? '')
    }
  })

  test('find by vector what the other stored, but not what it deleted, which no file keeps', async () => {
    const project = await first.mintProject()
    const there = at(second, project)
    const ids: string[] = []
    for (const name of ['Parking', 'Breakfast', 'Pets']) {
      const answer = await project.send('POST', '/v1/knowledge', {
        name,
        text: `All about ${name.toLowerCase()}.`,
      })
      expect([answer.status, answer.headers.get('callbook-index')]).toEqual([201, 'ready'])
      const { id }: { id: string } = await answer.json()
      ids.push(id)
    }
    await until(async () => (await foundByVector(there, 'breakfast'))?.[0] === 'Breakfast')
    const { index } = second.services
    await until(async () => (await vectors(second, project)) === 3)
    await index.eraseDeleted(project.projectId)
    expect((await index.verify(project.projectId)).fileVectors).toBe(3)
    expect((await project.fetch(`/v1/knowledge/${ids[1]}`, { method: 'DELETE' })).status).toBe(200)
    expect(await foundByVector(project, 'breakfast')).not.toContain('Breakfast')
    await until(async () => (await there.fetch(`/v1/knowledge/${ids[1]}`)).status === 404)
    expect(await foundByVector(there, 'breakfast')).not.toContain('Breakfast')
    await until(async () => (await index.verify(project.projectId)).fileVectors === 2, 'Scrubbing the file')
    expect((await index.verify(project.projectId)).labelsWithoutRow).toEqual([])
  })

  test('create one item when both get a request with the same Idempotency-Key', async () => {
    const project = await first.mintProject()
    const lagging = await startNode(primary, { env: { DATABASE_SYNC_INTERVAL_MS: '60000' } })
    const there = at(lagging, project)
    const post = (node: typeof there, key: string, name: string) =>
      node.fetch('/v1/knowledge', {
        method: 'POST',
        body: JSON.stringify({ name, text: 'Sent twice.' }),
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
      })
    const one = await post(project, 'one after the other', 'Once')
    const again = await post(there, 'one after the other', 'Once')
    expect([one.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true'])
    expect(await again.json()).toEqual(await one.json())
    const both = await Promise.all([project, there].map((node) => post(node, 'at once', 'Twice')))
    expect(both.map(({ status }) => status)).toEqual([201, 201])
    expect(await both[1]?.json()).toEqual(await both[0]?.json())
    expect((await post(project, 'of another body', 'Third')).status).toBe(201)
    expect((await post(there, 'of another body', 'Fourth')).status).toBe(422)
    expect(await first.services.knowledge.heads(project.projectId)).toHaveLength(3)
  })

  test('refuse writes to a project that the other has removed, also before they have synced', async () => {
    const project = await first.mintProject()
    const { projectId } = project
    const send = (node: Pick<typeof project, 'send'>, id: string) =>
      node.send('PUT', `/ingest/calls/${id}`, { summary: `Words of ${performance.now()}` })
    await send(project, 'deleted')
    await send(project, 'changed')
    const item = await project.send('POST', '/v1/knowledge', { name: 'Parking', text: 'Behind the house.' })
    const { id }: { id: string } = await item.json()
    const lagging = await startNode(primary, { env: { DATABASE_SYNC_INTERVAL_MS: '60000' } })
    const there = at(lagging, project)
    // The last sync before the removal. These parts would write to the primary, and be followed by another one.
    await send(there, 'before')
    for (const job of ['erasure of projects', 'retention', 'silence', 'words'])
      await lagging.services.core.jobs.stop(job)
    await first.services.projects.delete(projectId)
    await until(async () => {
      const rows = await first.services.database.write.all(
        sql`select 1 from project_erasures where project_id = ${projectId} and done_at is null`,
      )
      return rows.length === 0
    }, 'Removing the project')
    const answers = [
      await send(there, 'new'),
      await send(there, 'changed'),
      await there.send('POST', '/v1/knowledge', { name: 'Late', text: 'Too late.' }),
      await there.fetch('/v1/calls/deleted', { method: 'DELETE' }),
      await there.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' }),
    ]
    expect(answers[0]?.status).toBe(503)
    expect(await answers[0]?.json()).toMatchObject({ detail: 'The project was just deleted.' })
    // Once a refusal has made the node sync, the key is gone.
    for (const { status } of answers.slice(1)) expect([503, 401]).toContain(status)
  })

  test('index the words of a long call once, whichever does it first', async () => {
    const { projectId } = await first.mintProject()
    await putCalls(first.services, projectId, [
      { id: 'long', ...said(...Array.from({ length: 4_000 }, (_, n) => `word${n % 50} of a long call`)) },
      { id: 'short', ...said('a short call') },
    ])
    const nodes = [first, second]
    await until(async () =>
      (await second.services.projects.list()).some((one) => one.projectId === projectId),
    )
    await until(async () => (await second.services.calls.rows(projectId, { text: 'short' })).total === 1)
    await Promise.all(nodes.map(({ services }) => services.wordBacklog.finish()))
    for (const { services } of nodes) {
      await until(async () => (await services.calls.rows(projectId, { text: 'word49 long' })).total === 1)
      const { read } = services.database
      const segments = await read.all<{ segment: number }>(
        sql`select segment from call_segments where project_id = ${projectId}`,
      )
      const indexed = segments.map(
        ({ segment }) => sql`select id from ${segmentTable('call', segment)}_docsize`,
      )
      const rows = await read.all(sql`
        select seq from calls where project_id = ${projectId} and seq in (${sql.join(indexed, sql` union all `)})`)
      expect(rows.length).toBe(2)
    }
    expect(nodes.flatMap(({ logs }) => logs.filter(({ msg }) => /words of calls/.test(String(msg))))).toEqual(
      [],
    )
  })

  test('refuse a key that was revoked at the other', async () => {
    const project = await first.mintProject()
    const there = at(second, project)
    await until(async () => (await there.fetch('/v1/calls')).status === 200)
    await first.services.keys.revoke(project.projectId, project.keyId)
    expect((await project.fetch('/v1/calls')).status).toBe(401)
    await until(async () => (await there.fetch('/v1/calls')).status === 401)
  })

  test('do not replace a local database that is not a replica', async () => {
    const alone = freshFolder()
    await (await openDatabase(join(alone, 'callbook.db'))).close()
    expect(await startNode(primary, { dataDir: alone }).catch(String)).toContain('not a replica')
    expect(await openDatabase(join(first.dataDir, 'callbook.db')).catch(String)).toContain('is a replica')
  })

  test('can run beside a command, which talks to the primary', async () => {
    const command = await openCommand(first.dataDir, { DATABASE_SYNC_URL: primary.url })
    const { projectId, name } = await command.projects.create('made by a command')
    await command.knowledge.store(projectId, { name: 'Imported', text: 'Left for a node to embed.' })
    await command.close()
    for (const node of [first, second]) {
      await until(async () => (await node.services.projects.list()).some((project) => project.name === name))
      await until(async () => (await vectors(node, { projectId })) === 1)
    }
  })
})

describe('an old node beside one that has migrated the primary', () => {
  test('goes on to read, search and write, but does not start again on an unknown schema', async () => {
    const own = await startPrimary()
    const old = await startNode(own)
    const project = await old.mintProject()
    await project.send('PUT', '/ingest/calls/before', { summary: 'Before' })
    await project.send('POST', '/v1/knowledge', { name: 'Parking', text: 'Park behind the house.' })
    await migrateToTomorrow(own, [
      'alter table calls add column of_tomorrow text',
      'alter table projects add column of_tomorrow integer not null default 7',
      'alter table chunks add column of_tomorrow text',
      'create index calls_of_tomorrow on calls (project_id, of_tomorrow)',
      'create table things_of_tomorrow (id integer primary key)',
      "insert into __drizzle_migrations (hash, created_at) values ('tomorrow', 99999999999999)",
    ])
    await until(async () => (await columns(old)).includes('of_tomorrow'))
    expect((await project.fetch('/v1/calls/before')).status).toBe(200)
    expect((await project.send('PUT', '/ingest/calls/after', { summary: 'After' })).status).toBe(201)
    expect(await bodyOf(project.fetch('/v1/calls'))).toContain('"after"')
    expect((await old.services.calls.rows(project.projectId, { text: 'after' })).total).toBe(1)
    const made = await project.send('POST', '/v1/knowledge', { name: 'Pets', text: 'Dogs are welcome.' })
    expect([made.status, made.headers.get('callbook-index')]).toEqual([201, 'ready'])
    expect(await foundByVector(project, 'dogs')).toContain('Pets')
    expect((await fetch(`${old.url}/ready`)).status).toBe(200)
    const fresh = await startNode(own).catch(String)
    expect(fresh).toContain('newer version of Callbook')
  })
})

/** As a later version would. */
async function migrateToTomorrow({ url }: Primary, statements: string[]): Promise<void> {
  const client = createClient({ url })
  await client.batch(statements, 'write')
  client.close()
}

async function columns({ services }: TestService): Promise<string[]> {
  const rows = await services.database.read.all<{ name: string }>(
    sql`select name from pragma_table_info('calls')`,
  )
  return rows.map(({ name }) => name)
}

async function vectors(node: TestService, { projectId }: { projectId: number }): Promise<number> {
  return (await node.services.index.reconcile(projectId)).vectors
}

async function bodyOf(answer: Promise<Response>): Promise<string> {
  return await (await answer).text()
}
