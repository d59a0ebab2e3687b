import { describe, expect, test } from 'bun:test'
import { setMeta } from '../../src/db/meta.ts'
import { startConsole } from '../support/console.ts'
import { startFakeChat } from '../support/fake-chat.ts'
import { startService } from '../support/service.ts'

const chat = await startFakeChat()
const service = await startService({
  env: { ANALYSIS_MODEL: 'model', ANALYSIS_ENDPOINT: chat.url, ANALYSIS_DELAY_SECONDS: '0' },
})
const console = await startConsole(service)
const { demo, projects, keys, alertWatch, analyses, questionGroups } = service.services
const names = async () => (await projects.list()).map(({ name }) => name)

describe('the project of examples', () => {
  test('has calls, sound, verdicts, knowledge, gaps, an alert that has fired and a queue half done, without a model', async () => {
    const { project, isNew } = await demo.make()
    expect(isNew).toBe(true)
    const { key } = await keys.create(project.projectId, {
      name: 'read',
      kind: 'live',
      allowedIps: [],
      expiresAt: null,
    })
    const get = async (path: string) =>
      (await fetch(service.url + path, { headers: { authorization: `Bearer ${key}` } })).json()
    const total = async (query: string) => (await get(`/v1/calls?limit=0&${query}`)).pagination.total
    expect(await total('')).toBeGreaterThan(250)
    expect(await total('')).toBeLessThan(350)
    const versions = await get('/v1/metrics?by=agentVersion&agentId=agent_front_desk')
    expect(versions.data.map(({ key }: { key: string }) => key).sort()).toEqual(['v1', 'v2', 'v3'])
    const month = await get('/v1/metrics?by=week')
    expect(month.data.length).toBeGreaterThanOrEqual(4)
    const { data } = await get('/v1/calls?limit=60&details=include&status=completed')
    type Shown = { details: { recording: { state: string }; review: { reviewed: boolean } | null } }
    expect(data.filter(({ details }: Shown) => details.recording.state === 'kept').length).toBe(20)
    const reviewed = data.filter(({ details }: Shown) => details.review?.reviewed).length
    expect(reviewed).toBeGreaterThan(10)
    expect(reviewed).toBeLessThan(40)
    expect(await total('criterion.booked_or_clear_answer=fail')).toBeGreaterThan(10)
    const judged = data.find(
      ({ details }: { details: { analysis: { state: string } } }) => details.analysis.state === 'done',
    )
    const { criteria } = await analyses.get(project.projectId, judged.id)
    for (const { result, quote, turns } of criteria)
      if (result !== 'unknown') expect(judged.transcript[turns[0] ?? -1].content).toContain(quote)
    expect((await questionGroups.counts(project.projectId)).gap).toBeGreaterThan(0)
    const [alert] = (await get('/v1/alerts')).data
    expect(alert.state).toBe('alert')
    const { data: fired } = await service.services.alerts.changes(project.projectId)
    for (const { url, of, show } of fired) {
      expect(url).toContain(`/console/p/${project.id}/calls?agentId=`)
      expect([of, show]).toEqual(['success', 'share'])
    }
    expect(fired).toHaveLength(3)
    await alertWatch.now()
    expect((await get('/v1/alerts')).data[0]).toMatchObject({ state: 'alert', value: expect.any(Number) })
    expect(chat.requests).toEqual([])
  })

  test('is made once, and belongs to whoever owns the console', async () => {
    const { project, isNew } = await demo.make()
    expect(isNew).toBe(false)
    expect((await names()).filter((name) => name === 'demo')).toEqual(['demo'])
    const session = await (await console.owner.fetch('/session')).json()
    expect(session.projects.map(({ id }: { id: string }) => id)).toContain(project.id)
    expect(await (await console.owner.send('POST', '/demo', {})).json()).toEqual({ id: project.id })
  })

  test('is made by who may create projects', async () => {
    const viewer = await console.join(await console.mintProject(), 'viewer')
    await demo.remove()
    expect((await viewer.send('POST', '/demo', {})).status).toBe(403)
    expect((await console.nobody.send('POST', '/demo', {})).status).toBe(401)
    expect(await names()).not.toContain('demo')
    const { id } = await (await console.owner.send('POST', '/demo', {})).json()
    expect(await (await console.owner.fetch(`/projects/${id}/calls?limit=1`)).json()).toMatchObject({
      total: expect.any(Number),
    })
  })

  test('is removed whole, and no other project of that name with it', async () => {
    expect(await demo.remove()).toBe(true)
    expect(await names()).not.toContain('demo')
    expect(await demo.remove()).toBe(false)
    const own = await projects.create('demo')
    expect(await demo.remove()).toBe(false)
    expect(await names()).toContain('demo')
    await projects.delete(own.projectId)
  })

  test('that was left half full is made anew', async () => {
    const half = await projects.create('demo')
    await setMeta(service.services.write, 'demo', `${half.id} unfinished`)
    const { project, isNew } = await demo.make()
    expect(isNew).toBe(true)
    expect((await projects.list()).filter(({ name }) => name === 'demo')).toEqual([project])
    await demo.remove()
  })
})
