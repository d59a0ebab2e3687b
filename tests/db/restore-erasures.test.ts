import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { Budget } from '../../src/analysis/budget.ts'
import { byService } from '../../src/audit/audit-trail.ts'
import type { ReviewChange } from '../../src/calls/review/schemas.ts'
import { members, people } from '../../src/db/schema.ts'
import { freshFolder } from '../support/at-end.ts'
import { CommandLine } from '../support/command-line.ts'
import { madeWav } from '../support/recordings.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces } from '../support/traces.ts'
import { until } from '../support/until.ts'

const by = { person: { name: 'Ada' }, by: undefined as never }

describe.skipIf(ofFilesOnly)('a restore with a later backup', () => {
  test('leaves out what was erased since, and brings nothing that arrived since', async () => {
    const { dataDir, earlier, later, project, other, recordings, run } = await twoBackups()
    for (const newer of [later, dataDir]) {
      const restored = freshFolder()
      const ran = await callbook(restored, 'restore', earlier, '--erasures', newer, '--json')
      expect(ran).toMatchObject({ code: 0, err: '' })
      expect(JSON.parse(ran.out).leftOut).toEqual({ projects: 1, calls: 1, knowledgeItems: 2, recordings: 2 })
      const service = await startService({ dataDir: restored })
      const ask = (path: string, key = project.key) =>
        fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })
      const idsOf = async (path: string) => {
        const list = await (await ask(path)).json()
        return (list.data ?? list).map((each: { id: string; name?: string }) => each.name ?? each.id).sort()
      }
      expect(await idsOf('/v1/calls')).toEqual(['awaited', 'kept', 'labelled', 'silenced', 'swapped'])
      expect(await idsOf('/v1/calls?recording=kept')).toEqual(['kept'])
      expect(await idsOf('/v1/calls?label=vip')).toEqual(['labelled'])
      expect(await idsOf('/v1/calls?label=wrong')).toEqual([])
      expect((await (await ask('/v1/calls/labelled/details')).json()).review.labels).toEqual(['vip'])
      expect(await idsOf('/v1/knowledge')).toEqual(['Kept'])
      expect((await (await ask('/v1/knowledge/kept')).json()).tags).toEqual(['kept-tag'])
      expect(Buffer.from(await (await ask('/v1/calls/kept/recording')).arrayBuffer())).toEqual(
        recordings.kept,
      )
      for (const id of ['awaited', 'silenced', 'swapped']) {
        expect((await ask(`/v1/calls/${id}/recording`)).status).toBe(404)
        expect((await (await ask(`/v1/calls/${id}/details`)).json()).recording.state).toBe('none')
      }
      // What was asked in a deleted call is gone, also where somebody had kept it, and what was said of the rest stays.
      const { questionGroups, golden, database } = service.services
      const asked = await questionGroups.list(project.projectId, { state: 'dismissed' })
      expect(asked).toMatchObject([
        { query: 'kept question', mark: 'dismissed', markedBy: null, assignee: null },
      ])
      expect(await questionGroups.list(project.projectId, { state: 'gap' })).toEqual([])
      const kept = await golden.list(project.projectId)
      expect(kept).toMatchObject([{ query: 'kept golden', item: { id: 'kept' }, createdBy: null }])
      expect(await database.read.all('pragma foreign_key_check')).toEqual([])
      // A key that was revoked stays revoked, and settings are those of later.
      expect((await ask('/v1/calls', other.key)).status).toBe(401)
      expect((await service.services.settings.change(project.projectId, {})).retainDays).toBe(400)
      // A model was paid for what it has read.
      expect((await service.services.analyses.status(project.projectId)).tokens.prompt).toBe(30)
      // What somebody has stopped does not go on.
      expect(await (await ask(`/v1/analyses/${run.id}`)).json()).toMatchObject({ calls: 1, state: 'stopped' })
      // The deleted call stays deleted.
      const put = await fetch(`${service.url}/ingest/calls/gone`, {
        method: 'PUT',
        body: '{}',
        headers: { authorization: `Bearer ${project.ingestKey}`, 'content-type': 'application/json' },
      })
      expect(put.status).toBe(410)
      await service.services.erasure.finish()
      await service.stop()
      expect(readdirSync(join(restored, 'recordings')).filter((name) => name !== 'incoming')).toHaveLength(1)
      const traces = [
        'gone summary',
        'gone question',
        'gone golden',
        'gone-tag',
        'old text',
        'removed text',
        'other summary',
      ].map((text) => ({ name: text, bytes: Buffer.from(text) }))
      expect(await findTraces(restored, traces)).toEqual([])
    }
  })

  test('links the files of recordings, which take no room twice', async () => {
    const { dataDir, later } = await twoBackups()
    for (const file of readdirSync(join(later, 'recordings')))
      expect(statSync(join(later, 'recordings', file)).ino).toBe(
        statSync(join(dataDir, 'recordings', file)).ino,
      )
  })

  test('refuses a backup of another service, an earlier one, and a folder without one', async () => {
    const { earlier, later } = await twoBackups()
    const stranger = await twoBackups()
    for (const [newer, says] of [
      [stranger.later, 'another service'],
      [freshFolder(), 'There is no database'],
    ] as const) {
      const restored = freshFolder()
      const ran = await callbook(restored, 'restore', earlier, '--erasures', newer)
      expect(ran.code).toBe(1)
      expect(ran.err).toContain(says)
      expect(existsSync(join(restored, 'callbook.db'))).toBe(false)
    }
    const swapped = await callbook(freshFolder(), 'restore', later, '--erasures', earlier)
    expect([swapped.code, swapped.err]).toEqual([1, expect.stringContaining('was made before')])
  })
})

function callbook(dataDir: string, ...args: string[]) {
  return new CommandLine(dataDir).run(args)
}

/** Two backups of one service, between which some of everything is erased and something new arrives. */
async function twoBackups() {
  const dataDir = freshFolder()
  const service = await startService({ dataDir, env: { ERASE_WITHIN_MS: '400' } })
  const project = await service.mintProject()
  const other = await service.mintProject()
  const recordings = { kept: madeWav(), silenced: madeWav(), swapped: madeWav(), gone: madeWav() }
  for (const [id, body] of Object.entries(recordings))
    await project.fetch(`/ingest/calls/${id}/recording`, { method: 'PUT', body })
  await project.send('PUT', '/ingest/calls/gone', { summary: 'gone summary' })
  await project.send('PUT', '/ingest/calls/labelled', {})
  await other.send('PUT', '/ingest/calls/a', { summary: 'other summary' })
  await service.services.settings.change(project.projectId, { recordings: 'keep' })
  const details = { recordingUrl: 'https://recordings.invalid/awaited.wav' }
  await project.send('PUT', '/ingest/calls/awaited', { details })
  await label(service, project, { addLabels: ['vip', 'wrong'] })
  for (const [id, name, text] of [
    ['kept', 'Kept', 'kept text'],
    ['changed', 'Changed', 'old text'],
    ['removed', 'Removed', 'removed text'],
  ])
    await project.send('PUT', `/v1/knowledge/${id}`, { name, text, tags: ['gone-tag', 'kept-tag'] })
  const personId = await askAndKeep(service, project)
  const spend = async (prompt: number) => {
    const { database, core } = service.services
    const model = { name: 'judge', destination: 'here' }
    const budget = new Budget(core, { model })
    const sent = { tokens: { prompt, completion: 0 }, requests: 1 }
    const spent = budget.spending(project.projectId, 'kept', sent, { action: 'call_analyzed', by: byService })
    await database.write.batch({ spent })
  }
  await spend(10)
  await project.send('PUT', '/ingest/calls/kept', { status: 'completed' })
  await project.send('PUT', '/v1/rubric', { criteria: [] })
  const run = await (await project.send('POST', '/v1/analyses', {})).json()
  const earlier = join(freshFolder(), 'earlier')
  expect(await callbook(dataDir, 'backup', earlier)).toMatchObject({ code: 0 })

  await spend(20)
  await project.fetch(`/v1/analyses/${run.id}`, { method: 'DELETE' })
  await project.fetch('/v1/calls/gone', { method: 'DELETE' })
  const [goneGolden] = await service.services.golden.list(project.projectId)
  await service.services.golden.delete(project.projectId, goneGolden?.id ?? '')
  await service.services.database.write.delete(people).where(eq(people.id, personId))
  await project.fetch('/ingest/calls/awaited/recording', { method: 'PUT', body: madeWav() })
  for (const id of ['awaited', 'silenced'])
    await project.fetch(`/v1/calls/${id}/recording`, { method: 'DELETE' })
  await project.fetch('/ingest/calls/swapped/recording', { method: 'PUT', body: madeWav() })
  await label(service, project, { removeLabels: ['wrong'] })
  await project.send('PATCH', '/v1/knowledge/kept', { tags: ['kept-tag'] })
  await project.send('PUT', '/v1/knowledge/changed', { name: 'Changed', text: 'new text' })
  await project.fetch('/v1/knowledge/removed', { method: 'DELETE' })
  await service.services.projects.delete(other.projectId)
  await service.services.settings.change(project.projectId, { retainDays: 400 })
  await project.send('PUT', '/ingest/calls/new', {})
  await until(() => service.services.erasure.idle().then(() => true))
  const later = join(freshFolder(), 'later')
  expect(await callbook(dataDir, 'backup', later)).toMatchObject({ code: 0 })
  await service.stop()
  return { dataDir, earlier, later, project, other, recordings, run }
}

async function label(
  { services }: TestService,
  { projectId }: TestProject,
  change: ReviewChange,
): Promise<void> {
  await services.reviews.changeMany(projectId, ['labelled'], change, by)
}

/** Questions, golden ones, and what a person says of them. Returns the person's id. */
async function askAndKeep(service: TestService, { projectId, fetch }: TestProject): Promise<string> {
  const { settings, questions, questionGroups, questionMarks, golden, database } = service.services
  const [personId, now] = ['ada', new Date()]
  const person = { id: personId, name: 'Ada', email: 'ada@example.com', createdAt: now, updatedAt: now }
  await database.write.insert(people).values(person)
  await database.write
    .insert(members)
    .values({ projectId, personId, role: 'member', createdAt: now.getTime() })
  await settings.change(projectId, { keepQuestionsDays: 30 })
  const ask = (query: string, callId: string) =>
    fetch('/v1/knowledge/search', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-call-id': callId },
      body: JSON.stringify({ query, timeoutMs: 10_000 }),
    })
  await ask('gone question', 'gone')
  await ask('kept question', 'labelled')
  await questions.flush()
  const asked = await questionGroups.list(projectId, { state: 'gap' })
  const kept = asked.find(({ query }) => query === 'kept question')
  const change = { mark: 'dismissed', assignee: personId } as const
  await questionMarks.change(projectId, kept?.id ?? '', change, personId)
  for (const query of ['gone question', 'kept golden', 'gone golden'])
    await golden.keep(projectId, { query, itemId: 'kept', keepsWordsOfCall: true }, personId)
  return personId
}
