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
  const blank = await ada.send('POST', path, { name: ' ', query: '', isShared: false })
  expect((await expectProblem(blank, 'invalid_request', 'Invalid request')).errors).toEqual([
    { field: 'name', message: 'must not be blank' },
  ])
  const stranger = await people.join(await people.mintProject(), 'owner')
  await expectProblem(await stranger.fetch(path), 'not_found', 'Not found')
  expect((await people.nobody.fetch(path)).status).toBe(401)
})

test('a viewer keeps views for themselves, of which nobody keeps more than a hundred', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const person = await people.join(project, 'member')
  const keep = (isShared: boolean) => person.send('POST', path, { name: 'Failed', query: '', isShared })
  const shared = await (await keep(true)).json()
  const role = { role: 'viewer' }
  await people.owner.send('PATCH', `/projects/${project.id}/people/${person.personId}`, role)
  await expectProblem(await keep(true), 'forbidden', 'Forbidden')
  // Others see it, so a viewer no longer deletes it.
  await expectProblem(
    await person.fetch(`${path}/${shared.id}`, { method: 'DELETE' }),
    'not_found',
    'Not found',
  )
  const own = await (await keep(false)).json()
  const { data } = await (await person.fetch(path)).json()
  expect(data.map(({ id, canDelete }: Record<string, unknown>) => [id, canDelete]).sort()).toEqual(
    [
      [shared.id, false],
      [own.id, true],
    ].sort(),
  )
  expect((await person.fetch(`${path}/${own.id}`, { method: 'DELETE' })).status).toBe(200)
  for (let kept = 1; kept < 100; kept++) await keep(false)
  await expectProblem(await keep(false), 'forbidden', 'Forbidden')
  expect((await people.owner.send('POST', path, { name: 'Mine', query: '', isShared: true })).status).toBe(
    200,
  )
})
