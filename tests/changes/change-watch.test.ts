import { expect, test } from 'bun:test'
import { startService, type TestProject } from '../support/service.ts'
import { testMode } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

const service = await startService()

async function put(project: TestProject, id: string): Promise<void> {
  expect((await project.send('PUT', `/ingest/calls/${id}`, {})).status).toBe(201)
}

// A server tells of a commit only when it is asked, which may be between these reads.
test.skipIf(testMode === 'remote')(
  'readers that are woken together share what is read, until something is committed',
  async () => {
    const project = await service.mintProject()
    const { changes } = service.services
    const read = (after = 0) => changes.read(project.projectId, { after, limit: 10 })
    await put(project, 'a')
    const page = read()
    expect(read()).toBe(page)
    expect((await read()).changes).toHaveLength(1)
    expect((await read((await page).next)).changes).toHaveLength(0)
    await put(project, 'b')
    expect((await read()).changes).toHaveLength(2)
  },
)

test('after many readers of a project were woken, further changes wait a little, those of other projects do not', async () => {
  const { changeWatch } = service.services
  const [busy, quiet] = [await service.mintProject(), await service.mintProject()]
  await put(quiet, 'a')
  const { signal } = new AbortController()
  const wait = ({ projectId }: TestProject, seq: number) =>
    changeWatch.wait(projectId, seq, { withinMs: 60_000, signal })
  let calls = 0
  // Tried again in case that the machine takes longer than the readers have to wait.
  await until(async () => {
    const many = Array.from({ length: 1_000 }, () => wait(busy, calls))
    await put(busy, `call-${calls++}`)
    expect(new Set(await Promise.all(many))).toEqual(new Set([true]))
    const woken: string[] = []
    const both = [
      wait(busy, 0).then(() => woken.push('busy')),
      wait(quiet, 0).then(() => woken.push('quiet')),
    ]
    await Promise.all(both)
    return woken[0] === 'quiet'
  })
})

test('the readers of one project leave room for those of another, which then take up to half', async () => {
  const { changeWatch } = service.services
  const [busy, other] = [await service.mintProject(), await service.mintProject()]
  const leaving = new AbortController()
  const wait = ({ projectId }: TestProject) =>
    changeWatch.wait(projectId, Number.MAX_SAFE_INTEGER, { withinMs: 60_000, signal: leaving.signal })
  const waiting = Array.from({ length: 3_000 }, () => wait(busy))
  const refusal = { code: 'unavailable', detail: 'Too many readers are waiting for changes.' }
  await expect(wait(busy)).rejects.toMatchObject(refusal)
  waiting.push(...Array.from({ length: 1_000 }, () => wait(other)))
  await expect(wait(other)).rejects.toMatchObject(refusal)
  expect(changeWatch.count).toBe(4_000)
  leaving.abort()
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]))
  expect(changeWatch.count).toBe(0)
})
