import { afterAll, describe, expect, test } from 'bun:test'
import { freshFolder } from '../support/at-end.ts'
import { addMarkedCall, addMarkedItem } from '../support/marked.ts'
import { expectProblem } from '../support/problem.ts'
import { canSetReadOnly, setReadOnly } from '../support/read-only.ts'
import { startService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces } from '../support/traces.ts'
import { until } from '../support/until.ts'

const isPossible = canSetReadOnly()
if (!isPossible) skipped('no file can be made immutable, as on a disk that turns read-only')

const folder = freshFolder()

const service = await startService({ dataDir: folder, env: { ERASE_WITHIN_MS: '1000' } })
const project = await service.mintProject()

afterAll(async () => {
  setReadOnly(folder, false)
})

describe.skipIf(!isPossible || ofFilesOnly)('while the disk is read-only', () => {
  test('writes are 503, reads and searches go on, and when it is writable everything goes on by itself', async () => {
    const kept = await addMarkedItem(project)
    const gone = [await addMarkedCall(project), await addMarkedItem(project)]
    for (const { path } of gone) expect((await project.fetch(path, { method: 'DELETE' })).status).toBe(200)
    setReadOnly(folder, true)

    const writes = () => [
      project.send('PUT', '/ingest/calls/refused', { summary: 'refused' }),
      project.send('POST', '/v1/knowledge', { name: 'Refused', text: 'Refused.' }),
      project.fetch(kept.path, { method: 'DELETE' }),
    ]
    for (const answer of await Promise.all([...writes(), ...writes()])) {
      expect(answer.headers.get('retry-after')).toBe('5')
      await expectProblem(answer, 'unavailable')
    }
    const { keys } = service.services
    expect(await keys.revoke(project.projectId, project.keyId).catch(String)).toContain('refuses writes')
    for (const path of [kept.path, '/v1/calls', '/v1/knowledge', `/v1/erasures/${gone[0]?.id}`])
      expect((await project.fetch(path)).status).toBe(200)
    const request = { query: kept.words.join(' '), timeoutMs: 10_000 }
    const found = await (await project.send('POST', '/v1/knowledge/search', request)).json()
    expect(found.data[0].itemId).toBe(kept.id)
    for (const path of ['/health', '/metrics']) expect((await fetch(service.url + path)).status).toBe(200)
    const ready = await fetch(`${service.url}/ready`)
    expect([ready.status, (await ready.json()).detail]).toEqual([
      503,
      expect.stringContaining('refuses writes'),
    ])
    const messages = () => service.logs.map(({ msg }) => msg)
    expect(messages().filter((msg) => String(msg).startsWith('The disk refuses'))).toHaveLength(1)
    expect(messages()).not.toContain('internal')

    setReadOnly(folder, false)
    // Without a write from outside: nobody sends one to a service that is not ready.
    await until(async () => (await fetch(`${service.url}/ready`)).status === 200, 'Being ready again')
    await until(async () => (await Promise.all(writes().slice(0, 2))).every(({ ok }) => ok), 'Writing again')
    expect(messages()).toContain('The disk accepts writes again')
    for (const { id } of gone)
      await until(async () => (await (await project.fetch(`/v1/erasures/${id}`)).json()).status === 'done')
    expect(
      await findTraces(
        folder,
        gone.flatMap(({ traces }) => traces),
      ),
    ).toEqual([])
    await keys.revoke(project.projectId, project.keyId)
    expect((await project.fetch('/v1/calls')).status).toBe(401)
  })

  test('a start is refused with a sentence, and leaves nothing open that would refuse writes later', async () => {
    const home = freshFolder()
    await (await startService({ dataDir: home })).stop()
    setReadOnly(home, true)
    expect(await startService({ dataDir: home }).catch(String)).toContain('is read-only for the user')
    setReadOnly(home, false)
    const started = await startService({ dataDir: home })
    const own = await started.mintProject()
    expect((await own.send('PUT', '/ingest/calls/one', {})).status).toBe(201)
    await started.stop()
  })
})
