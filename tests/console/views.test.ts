import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startConsole, type TestConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let people: TestConsole
beforeAll(async () => {
  service = await startService()
  people = await startConsole(service)
})
afterAll(() => service.stop())

test('a person keeps views for themselves or for everybody, and deletes their own', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const [ada, bob] = [await people.join(project, 'member'), await people.join(project, 'member')]
  const keep = async (name: string, isShared: boolean) =>
    await (await ada.send('POST', path, { name, query: '?evaluation=fail', isShared })).json()
  const namesOf = async (person: TestPerson) =>
    (await (await person.fetch(path)).json()).data.map(({ name, canDelete }: Record<string, unknown>) => [
      name,
      canDelete,
    ])
  const mine = await keep('Mine', false)
  const ours = await keep('ours', true)
  expect(mine).toEqual({
    ...{ id: expect.stringMatching(/^view_/), name: 'Mine', query: '?evaluation=fail' },
    ...{ isShared: false, canDelete: true },
  })
  expect(await namesOf(ada)).toEqual([
    ['Mine', true],
    ['ours', true],
  ])
  expect(await namesOf(bob)).toEqual([['ours', false]])
  for (const [person, id] of [
    [bob, ours.id],
    [people.owner, mine.id],
  ] as const)
    await expectProblem(await person.fetch(`${path}/${id}`, { method: 'DELETE' }), 'not_found', 'Not found')
  expect((await people.owner.fetch(`${path}/${ours.id}`, { method: 'DELETE' })).status).toBe(200)
  expect(await (await ada.fetch(`${path}/${mine.id}`, { method: 'DELETE' })).json()).toEqual({
    ...{ id: mine.id, deleted: true },
  })
  expect(await namesOf(ada)).toEqual([])

  const bad = await ada.send('POST', path, { name: '', query: 'x'.repeat(2_001) })
  const { errors } = await expectProblem(bad, 'invalid_request', 'Invalid request')
  expect(errors?.map(({ field }) => field).sort()).toEqual(['isShared', 'name', 'query'])
  const stranger = await people.join(await people.mintProject(), 'owner')
  await expectProblem(await stranger.fetch(path), 'not_found', 'Not found')
  expect((await people.nobody.fetch(path)).status).toBe(401)
})
