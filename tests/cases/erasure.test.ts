import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { freshFolder } from '../support/at-end.ts'
import { CommandLine } from '../support/command-line.ts'
import { spawnService } from '../support/process.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord, untilInFiles } from '../support/traces.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(180_000)
const dayMs = 86_400_000
const env = { ERASE_WITHIN_MS: '500' }
/** Kept long ago enough for retention. */
const createdAt = new Date(Date.now() - 10 * dayMs).toISOString()

const callOf = (word: string) => ({
  status: 'completed',
  createdAt,
  occurredAt: createdAt,
  callerNumber: '+4930123456',
  transcript: [
    { role: 'user', content: `Is it ${word}?` },
    { role: 'assistant', content: 'Yes.' },
  ],
})

/** A call with a case, and what is said in both. */
async function madeIn(project: Pick<TestProject, 'send' | 'fetch'>, call = 'gone') {
  const word = newWord()
  expect((await project.send('PUT', `/ingest/calls/${call}`, callOf(word))).status).toBe(201)
  const answer = await project.send('POST', '/v1/cases', { call, turn: 1, expect: `Not ${word}.` })
  expect(answer.status).toBe(201)
  const { id }: { id: string } = await answer.json()
  return { word, id, traces: tracesOfWord(word) }
}

describe.skipIf(ofFilesOnly)('no byte of a case is left, and it is 404', () => {
  const ways: Record<string, (project: TestProject, id: string) => Promise<unknown>> = {
    'when its call is deleted': (project) => project.fetch('/v1/calls/gone', { method: 'DELETE' }),
    'when calls of a number are erased': (project) =>
      project.send('POST', '/v1/erasures', { number: '+4930123456' }),
    'when calls are erased by their ids': (project) =>
      project.send('POST', '/v1/erasures', { ids: ['gone'] }),
    'when calls before a time are erased': (project) =>
      project.send('POST', '/v1/erasures', { before: new Date().toISOString() }),
    'when its call expires': async (project) => {
      await services.settings.change(project.projectId, { retainDays: 5 })
      await services.retention.run()
    },
    'when it is deleted itself': async (project, id) => {
      await project.fetch(`/v1/cases/${id}`, { method: 'DELETE' })
      // Its words are those of the call, too.
      await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    },
  }
  const service = startService({ env })
  let services: Awaited<typeof service>['services']

  for (const [way, erase] of Object.entries(ways))
    test(way, async () => {
      const { mintProject, dataDir, ...running } = await service
      services = running.services
      const project = await mintProject()
      const { id, traces } = await madeIn(project)
      await untilInFiles(dataDir, traces)
      await erase(project, id)
      await until(async () => (await project.fetch(`/v1/cases/${id}`)).status === 404, 'The erasure')
      await until(async () => (await findTraces(dataDir, traces)).length === 0, 'The erasure of bytes')
    })

  test('when its project is removed', async () => {
    const { mintProject, dataDir, services } = await service
    const project = await mintProject()
    const { traces } = await madeIn(project)
    await untilInFiles(dataDir, traces)
    await services.projects.delete(project.projectId)
    await until(async () => (await findTraces(dataDir, traces)).length === 0, 'The erasure of bytes')
  })

  test('when a backup is restored without what was erased since', async () => {
    const dataDir = freshFolder()
    const before = await startService({ dataDir, env })
    const project = await before.mintProject()
    const [gone, removed, kept] = [
      await madeIn(project, 'gone'),
      await madeIn(project, 'removed'),
      await madeIn(project, 'kept'),
    ]
    const command = new CommandLine(dataDir)
    const [earlier, later] = [`${freshFolder()}/earlier`, `${freshFolder()}/later`]
    expect((await command.run(['backup', earlier])).code).toBe(0)
    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    await project.fetch(`/v1/cases/${removed.id}`, { method: 'DELETE' })
    expect((await command.run(['backup', later])).code).toBe(0)
    await before.stop()
    const restored = freshFolder()
    const ran = await new CommandLine(restored).run(['restore', earlier, '--erasures', later])
    expect([ran.code, ran.err]).toEqual([0, ''])
    const after = await startService({ dataDir: restored, env })
    const read = (id: string) =>
      fetch(`${after.url}/v1/cases/${id}`, { headers: { authorization: `Bearer ${project.key}` } })
    const statuses = await Promise.all([gone, removed, kept].map(async ({ id }) => (await read(id)).status))
    expect(statuses).toEqual([404, 404, 200])
    await until(async () => (await findTraces(restored, gone.traces)).length === 0, 'The erasure of bytes')
    // The words of its call stay; those that were expected go.
    const expected = [{ name: 'expected', bytes: Buffer.from(`Not ${removed.word}`) }]
    expect(await findTraces(restored, expected)).toEqual([])
  })

  test('when the service is killed in between', async () => {
    let running = await spawnService({ ...env, ERASE_WITHIN_MS: '2000' })
    const { dataDir } = running
    const command = new CommandLine(dataDir)
    const keyOf = async (kind: string) =>
      (await command.json(['key', 'create', '--project', 'default', '--name', kind, '--kind', kind])).value
        .key
    const keys = { live: await keyOf('live'), ingest: await keyOf('ingest') }
    const fetchIn = (path: string, init: RequestInit = {}) => {
      const authorization = `Bearer ${path.startsWith('/ingest') ? keys.ingest : keys.live}`
      const headers = { authorization, 'content-type': 'application/json' }
      return fetch(running.url + path, { ...init, headers })
    }
    const project = {
      fetch: fetchIn,
      send: (method: string, path: string, body: unknown) =>
        fetchIn(path, { method, body: JSON.stringify(body) }),
    }
    for (const [round, waitMs] of [0, 300].entries()) {
      const { id, traces } = await madeIn(project, `gone-${round}`)
      await untilInFiles(dataDir, traces)
      expect((await fetchIn(`/v1/calls/gone-${round}`, { method: 'DELETE' })).status).toBe(200)
      await Bun.sleep(waitMs)
      running.kill('SIGKILL')
      await running.exited
      running = await spawnService({ ...env, DATA_DIR: dataDir })
      expect((await fetchIn(`/v1/cases/${id}`)).status).toBe(404)
      await until(async () => (await findTraces(dataDir, traces)).length === 0, 'The erasure of bytes')
    }
  })
})
