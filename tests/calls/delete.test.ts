import { describe, expect, spyOn, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { newestFirst } from '../../src/calls/finding/place.ts'
import type { Call, CallChange } from '../../src/calls/schemas.ts'
import type { OwnDetails } from '../../src/calls/writing/merge-details.ts'
import type { Services } from '../../src/services/services.ts'
import { freshFolder } from '../support/at-end.ts'
import { openCommand } from '../support/command.ts'
import { expectProblem } from '../support/problem.ts'
import { spawnService } from '../support/process.ts'
import { plansOf, record } from '../support/query-plan.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'

const eraseWithinMs = 500

const service = await startService({ env: { ERASE_WITHIN_MS: String(eraseWithinMs) } })

function remove(project: TestProject, id: string): Promise<Response> {
  return project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
}

function textOf(statement: SQL): string {
  return new SQLiteSyncDialect().sqlToQuery(statement).sql
}

/** Gives the documents that are stored then. */
async function putAll(
  services: Services,
  projectId: number,
  inputs: { id: string; change: CallChange; own?: OwnDetails }[],
): Promise<string[]> {
  for (const result of await services.ingest.putAll(projectId, inputs))
    if (result instanceof Error) throw result
  return await Promise.all(inputs.map(({ id }) => documentOf(services, projectId, id)))
}

async function documentOf({ calls }: Services, projectId: number, id: string): Promise<string> {
  return Buffer.from((await calls.get(projectId, id)).document).toString()
}

async function totalOf(project: TestProject): Promise<number> {
  return (await (await project.fetch('/v1/calls?limit=0')).json()).pagination.total
}

async function openErasures({ database }: Services): Promise<number> {
  const [row] = await database.read.all<{ n: number }>(
    sql`select count(*) as n from erasures where done_at is null`,
  )
  return row?.n ?? -1
}

async function untilErased(services: Services, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while ((await openErasures(services)) > 0) {
    if (performance.now() > deadline) throw new Error('The erasures did not come to an end')
    await Bun.sleep(20)
  }
}

/** Files under the folder that hold the text somewhere, as `name` or `name: what is around it`. */
function filesWith(folder: string, text: string): string[] {
  const found: string[] = []
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (!statSync(path).isFile()) continue
    const bytes = readFileSync(path)
    const position = bytes.indexOf(text)
    if (position < 0) continue
    found.push(
      `${name}@${position}: ${bytes.subarray(Math.max(position - 40, 0), position + 60).toString('latin1')}`,
    )
  }
  return found
}

/** A change with `marker` in everything a platform can write, metadata and keys of objects included. */
function markedChange(marker: string, chars: number): CallChange {
  const long = (name: string) => `${marker}-${name} ${`${name} ${marker} `.repeat(Math.ceil(chars / 30))}`
  return {
    summary: long('summary').slice(0, 60_000),
    evaluation: `${marker}-evaluation`,
    endedReason: `${marker}-ended-reason`,
    callerNumber: `${marker}-caller`,
    calledNumber: `${marker}-called`,
    callAnalysis: { [`${marker}-key`]: { deep: [`${marker}-value`, long('analysis')] } },
    transcript: [
      { role: 'user', content: long('user') },
      { role: 'assistant', content: `${marker}-assistant` },
    ],
    details: {
      agent: { id: `${marker}-agent`, name: `${marker}-agent-name` },
      recordingUrl: `https://example.com/${marker}-recording`,
      timeline: [
        { atSeconds: 1, kind: 'tool_call', name: `${marker}-tool`, text: long('tool').slice(0, 60_000) },
        { atSeconds: 2, kind: 'turn', turn: 1, agentId: `${marker}-other-agent` },
      ],
    },
    metadata: { [`${marker}-metadata-key`]: long('metadata').slice(0, 60_000) },
  }
}

function reviewWith(marker: string): OwnDetails['review'] {
  const [label, note, by] = ['label', 'note', 'by'].map((name) => `${marker}-${name}`)
  return {
    evaluation: null,
    note: note ?? '',
    labels: [label ?? ''],
    by: by ?? '',
    at: '2026-01-01T00:00:00Z',
  }
}

describe('DELETE /v1/calls/:id', () => {
  test('answers {id, deleted: true}, and the call is gone from everywhere', async () => {
    const project = await service.mintProject()
    await putAll(service.services, project.projectId, [
      { id: 'a', change: { summary: 'a' } },
      { id: 'b', change: { summary: 'b', metadata: { m: 1 } } },
    ])
    const answer = await remove(project, 'b')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(await answer.json()).toStrictEqual({ id: 'b', deleted: true })

    await expectProblem(await project.fetch('/v1/calls/b'), 'not_found', 'Call not found')
    await expectProblem(await remove(project, 'b'), 'not_found', 'Call not found')
    const page: { data: Call[] } = await (await project.fetch('/v1/calls')).json()
    expect(page).toMatchObject({ data: [{ id: 'a' }], pagination: { total: 1 } })
    expect(page.data).toHaveLength(1)
  })

  test('deletes its own call where another project has one of the same id', async () => {
    const [one, two] = [await service.mintProject(), await service.mintProject()]
    for (const { projectId } of [one, two])
      await putAll(service.services, projectId, [
        { id: 'a', change: {} },
        { id: 'b', change: {} },
      ])
    for (const [id, project, other] of [
      ['a', one, two],
      ['b', two, one],
    ] as const) {
      expect((await remove(project, id)).status).toBe(200)
      expect((await project.fetch(`/v1/calls/${id}`)).status).toBe(404)
      expect((await other.fetch(`/v1/calls/${id}`)).status).toBe(200)
    }
  })

  test('ignores a body, whatever its kind', async () => {
    const project = await service.mintProject()
    for (const [i, type] of ['application/json', 'text/plain'].entries()) {
      await putAll(service.services, project.projectId, [{ id: `call-${i}`, change: {} }])
      const headers = { 'content-type': type }
      const answer = await project.fetch(`/v1/calls/call-${i}`, { method: 'DELETE', body: '{', headers })
      expect(answer.status).toBe(200)
    }
  })

  test('of a call that is not there, or another project has, is the same 404', async () => {
    const [one, two] = [await service.mintProject(), await service.mintProject()]
    await putAll(service.services, two.projectId, [{ id: 'theirs', change: {} }])
    const texts: string[] = []
    for (const id of ['theirs', 'nowhere']) {
      const answer = await one.fetch(`/v1/calls/${id}`, {
        method: 'DELETE',
        headers: { 'x-request-id': 'r' },
      })
      texts.push(await answer.text())
      expect(answer.status).toBe(404)
    }
    expect(texts[0]).toBe(texts[1] ?? '')
    expect(await totalOf(two)).toBe(1)
    expect((await two.send('PUT', '/ingest/calls/nowhere', {})).status).toBe(201)
    expect((await one.send('PUT', '/ingest/calls/theirs', {})).status).toBe(201)
  })

  test.skipIf(ofFilesOnly)('finds it by its row number, not among all calls of the project', async () => {
    const project = await service.mintProject()
    await project.send('PUT', '/ingest/calls/one', { summary: 'One.' })
    const written = record(service.services.database.writeWhenFull)
    expect((await remove(project, 'one')).status).toBe(200)
    const [plan] = await plansOf(service.services.database.file, written, /delete from "calls"/)
    expect(plan).toContain('SEARCH calls USING INTEGER PRIMARY KEY')
  })

  test('of many at once shares transactions, and each has its answer, its number and its entry in the trail', async () => {
    const project = await service.mintProject()
    const ids = Array.from({ length: 30 }, (_, n) => `together-${n}`)
    await putAll(
      service.services,
      project.projectId,
      ids.map((id) => ({ id, change: {} })),
    )
    await service.services.holds.set(project.projectId, { callId: 'together-29', reason: 'Court.' })
    const written = record(service.services.database.writeWhenFull)
    const asked = [...ids, 'together-3', 'nowhere']
    const answers = await Promise.all(asked.map((id) => remove(project, id)))
    // Of the two requests for one call, either may come first.
    const statuses = Map.groupBy(answers, ({ status }) => status)
    expect([200, 404, 409].map((status) => statuses.get(status)?.length)).toEqual([29, 2, 1])
    expect(answers[29]?.status).toBe(409)
    expect(written.filter((statement) => /delete from "calls"/.test(textOf(statement))).length).toBeLessThan(
      15,
    )

    const { data } = await (await project.fetch('/v1/changes?limit=1000')).json()
    const deleted = data.filter(({ type }: { type: string }) => type === 'call.deleted')
    expect(new Set(deleted.map(({ seq }: { seq: number }) => seq)).size).toBe(29)
    const trail = await service.services.console.audit.list(
      project.projectId,
      { limit: 100 },
      { action: 'call_deleted' },
    )
    const refs = (entries: { target?: string | null; ref?: string }[]) =>
      entries.map(({ target, ref }) => target ?? ref).sort()
    expect(refs(trail.data)).toEqual(refs(deleted))
    expect(await totalOf(project)).toBe(1)
  })

  test('of many at once leaves only the call for which a hold is set meanwhile', async () => {
    const project = await service.mintProject()
    const { calls, holds } = service.services
    const ids = ['first', 'second', 'third']
    await putAll(
      service.services,
      project.projectId,
      ids.map((id) => ({ id, change: {} })),
    )
    const among = holds.among.bind(holds)
    const asking = spyOn(holds, 'among').mockImplementationOnce(async (...asked) => {
      const held = await among(...asked)
      await holds.set(project.projectId, { callId: 'first', reason: 'Court.' })
      return held
    })
    const answer = await calls.deleteAll(project.projectId, ids).finally(() => asking.mockRestore())
    expect({ ...answer, deleted: answer.deleted.sort() }).toEqual({
      deleted: ['second', 'third'],
      held: ['first'],
    })
  })

  test.skipIf(ofFilesOnly)('keeps of the call no more than a keyed hash of its id', async () => {
    const project = await service.mintProject()
    await putAll(service.services, project.projectId, [{ id: 'id-marker-18', change: {} }])
    await remove(project, 'id-marker-18')
    await untilErased(service.services)
    expect(filesWith(service.dataDir, 'id-marker-18')).toEqual([])
    expect((await project.send('PUT', '/ingest/calls/id-marker-18', {})).status).toBe(410)
  })

  test('reads no document: what is stored may be damaged or of any size', async () => {
    const project = await service.mintProject()
    await putAll(service.services, project.projectId, [{ id: 'a', change: {} }])
    await service.services.database.write.run(sql`
      delete from call_documents where seq = (select seq from calls where project_id = ${project.projectId})`)
    expect((await remove(project, 'a')).status).toBe(200)
    expect(await totalOf(project)).toBe(0)
  })

  test('holds after a restart: the tombstone, the list, the total', async () => {
    const dataDir = freshFolder()
    const first = await startService({ dataDir })
    const { projectId } = await first.mintProject()
    await putAll(first.services, projectId, [
      { id: 'a', change: { summary: 'a' } },
      { id: 'b', change: { summary: 'b' } },
    ])
    await first.services.calls.delete(projectId, 'a')
    await first.stop()

    const second = await startService({ dataDir })
    const { ingest, calls } = second.services
    // `rejects` would wait without the messages of the writer's thread.
    const put = await ingest.put(projectId, 'a', { metadata: { late: 1 } }).catch((error) => error)
    expect(put).toMatchObject({ code: 'call_was_deleted', status: 410 })
    await expect(calls.get(projectId, 'a')).rejects.toMatchObject({ code: 'not_found' })
    const { total, documents } = await calls.find(
      projectId,
      { search: { conditions: [], order: newestFirst }, limit: 10, offset: 0 },
      { isDetailed: false },
    )
    expect(total).toBe(1)
    const listed = await new Blob(await Array.fromAsync(documents)).json()
    expect(listed).toMatchObject({ id: 'b', summary: 'b' })
  })
})

describe.skipIf(ofFilesOnly)('erasure', () => {
  test.each([0, 1_000, 5_000, 300_000])(
    'leaves no byte of a call with fields of %i characters, in time, and its neighbours whole',
    async (chars) => {
      const project = await service.mintProject()
      const [gone, kept] = [`goneword${chars}x`, `keptword${chars}x`]
      const inputs = ['a', 'b', 'c'].map((id) => ({
        id,
        change: markedChange(id === 'b' ? gone : kept, chars),
        own: { source: id === 'b' ? gone : kept, review: reviewWith(id === 'b' ? gone : kept) },
      }))
      const documents = await putAll(service.services, project.projectId, inputs)
      expect(filesWith(service.dataDir, gone)).not.toEqual([])

      const answer = await remove(project, 'b')
      const answeredAt = performance.now()
      expect(answer.status).toBe(200)
      await untilErased(service.services)
      expect(performance.now() - answeredAt).toBeLessThan(5_000)
      expect(filesWith(service.dataDir, gone)).toEqual([])
      expect(await (await project.fetch('/v1/calls/a')).text()).toBe(documents[0] ?? '')
      expect(await (await project.fetch('/v1/calls/c')).text()).toBe(documents[2] ?? '')
      expect(filesWith(service.dataDir, `${kept}-metadata-key`)).not.toEqual([])
    },
  )

  test('leaves nothing of what a call said before it was changed', async () => {
    const project = await service.mintProject()
    for (const chars of [4_000, 100, 20_000, 0, 900])
      await project.send('PUT', '/ingest/calls/a', markedChange(`formerword-${chars}`, chars))
    await project.send('PUT', '/ingest/calls/a', { summary: null, metadata: null, transcript: [] })
    await remove(project, 'a')
    await untilErased(service.services)
    expect(filesWith(service.dataDir, 'formerword')).toEqual([])
  })

  test('is thorough among many calls of all sizes, changed and deleted in any order', async () => {
    const project = await service.mintProject()
    const ids = Array.from({ length: 200 }, (_, i) => `${(i * 7_919) % 1_000}-${i}`)
    const isGone = (i: number) => i % 3 !== 0
    const sizes = [0, 20, 90, 400, 1_500, 3_900, 9_000]
    const inputs = ids.map((id, i) => ({
      id,
      change: markedChange(isGone(i) ? `goneamong${i}` : `keptamong${i}`, sizes[i % sizes.length] ?? 0),
    }))
    for (let i = 0; i < inputs.length; i += 25)
      await putAll(service.services, project.projectId, inputs.slice(i, i + 25))
    const again = inputs.map(({ id, change }, i) => ({
      id,
      change: { ...change, summary: change.summary?.slice(0, (i * 37) % 800) ?? null, duration: i },
    }))
    const documents = await putAll(service.services, project.projectId, again)
    await Promise.all(
      ids.filter((_, i) => isGone(i)).map((id) => service.services.calls.delete(project.projectId, id)),
    )
    await untilErased(service.services)
    expect(filesWith(service.dataDir, 'goneamong')).toEqual([])
    for (const [i, id] of ids.entries()) {
      if (isGone(i)) continue
      expect(await documentOf(service.services, project.projectId, id)).toBe(documents[i] ?? '')
    }
    expect(await totalOf(project)).toBe(ids.filter((_, i) => !isGone(i)).length)
  })

  test('gets through while calls are written, read and deleted all the time', async () => {
    const project = await service.mintProject()
    let isBusy = true
    const write = async (writer: number) => {
      for (let i = 0; isBusy; i++) {
        const change = markedChange(`keptbusy${writer}-${i}`, (i * 131) % 3_000)
        await service.services.ingest.put(project.projectId, `writer${writer}-${i % 40}`, change)
      }
    }
    const read = async () => {
      while (isBusy) await (await project.fetch('/v1/calls?limit=50')).arrayBuffer()
    }
    const busy = [write(1), write(2), read()]
    for (let round = 0; round < 5; round++) {
      const ids = Array.from({ length: 5 }, (_, i) => `gone-${round}-${i}`)
      const inputs = ids.map((id, i) => ({ id, change: markedChange('gonebusy', i * 900) }))
      await putAll(service.services, project.projectId, inputs)
      for (const id of ids) expect((await remove(project, id)).status).toBe(200)
      await Bun.sleep(30)
    }
    await untilErased(service.services)
    const left = filesWith(service.dataDir, 'gonebusy')
    isBusy = false
    await Promise.all(busy)
    expect(left).toEqual([])
    expect(await totalOf(project)).toBe(80)
  })

  test('of what a command deletes beside the running service is done by the service', async () => {
    const project = await service.mintProject()
    await putAll(service.services, project.projectId, [
      { id: 'a', change: markedChange('gonecommand', 3_000) },
    ])
    const command = await openCommand(service.dataDir)
    try {
      await command.calls.delete(project.projectId, 'a')
      await untilErased(service.services)
      expect(filesWith(service.dataDir, 'gonecommand')).toEqual([])
    } finally {
      await command.close()
    }
  })

  test('a kill between the answer and the scrub is made good before the service is ready again', async () => {
    const dataDir = freshFolder()
    const env = { DATA_DIR: dataDir, ERASE_WITHIN_MS: '3600000', LOG_LEVEL: 'error' }
    const first = await spawnService(env)
    const key = /API key +(\S+)/.exec(first.banner)?.[1] ?? ''
    const command = await openCommand(dataDir)
    const documents = await (async () => {
      const [project] = await command.projects.list()
      const inputs = Array.from({ length: 30 }, (_, i) => ({
        id: `call-${i}`,
        change: markedChange(i % 2 ? `goneword${i}` : `keptword${i}`, i * 400),
      }))
      return await putAll(command, project?.projectId ?? 0, inputs)
    })()
    await command.close()
    const ask = (url: string, path: string, method = 'GET') =>
      fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } })
    for (let i = 1; i < 30; i += 2)
      expect((await ask(first.url, `/v1/calls/call-${i}`, 'DELETE')).status).toBe(200)
    first.kill('SIGKILL')
    await first.exited
    expect(filesWith(dataDir, 'goneword')).not.toEqual([])

    const second = await spawnService(env)
    expect(filesWith(dataDir, 'goneword')).toEqual([])
    for (const [i, document] of documents.entries()) {
      const answer = await ask(second.url, `/v1/calls/call-${i}`)
      expect(answer.status).toBe(i % 2 ? 404 : 200)
      if (answer.ok) expect(await answer.text()).toBe(document)
    }
    expect(await (await ask(second.url, '/v1/calls?limit=0')).json()).toMatchObject({
      pagination: { total: 15 },
    })
  })
})
