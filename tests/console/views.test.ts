import { expect, test } from 'bun:test'
import { startConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces } from '../support/traces.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })
const people = await startConsole(service)

test('a person keeps views for themselves or for everybody, and deletes their own', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const [ada, bob] = [await people.join(project, 'member'), await people.join(project, 'member')]
  const keep = async (name: string, isShared: boolean) =>
    await (await ada.send('POST', path, { name, query: '?evaluation=fail', isShared })).json()
  const namesOf = async (person: TestPerson) =>
    (await person.read(path)).data.map(({ name, canChange }: Record<string, unknown>) => [name, canChange])
  const mine = await keep('Mine', false)
  const ours = await keep('ours', true)
  expect(mine).toEqual({
    id: expect.stringMatching(/^view_/),
    name: 'Mine',
    page: 'calls',
    query: '?evaluation=fail',
    isShared: false,
    isFirst: false,
    canChange: true,
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
    await expectProblem(await person.fetch(`${path}/${id}`, { method: 'DELETE' }), 'not_found')
  expect((await people.owner.fetch(`${path}/${ours.id}`, { method: 'DELETE' })).status).toBe(200)
  const gone = await ada.fetch(`${path}/${mine.id}`, { method: 'DELETE' })
  expect(await gone.json()).toEqual({ id: mine.id, deleted: true })
  expect(await namesOf(ada)).toEqual([])

  const bad = await ada.send('POST', path, { name: '', query: 'x'.repeat(2_001) })
  const { errors } = await expectProblem(bad, 'invalid_request')
  expect(errors?.map(({ field }) => field).sort()).toEqual(['isShared', 'name', 'query'])
  const blank = await ada.send('POST', path, { name: ' ', query: '', isShared: false })
  expect((await expectProblem(blank, 'invalid_request')).errors).toEqual([
    { field: 'name', message: 'must not be blank' },
  ])
  const stranger = await people.join(await people.mintProject(), 'owner')
  await expectProblem(await stranger.fetch(path), 'not_found')
  expect((await people.nobody.fetch(path)).status).toBe(401)
})

test('views are renamed, ordered by each person for themselves, and one is where the list begins', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const [ada, bob] = [await people.join(project, 'member'), await people.join(project, 'member')]
  const keep = async (name: string, query: string, isShared = true): Promise<string> =>
    (await (await ada.send('POST', path, { name, query, isShared })).json()).id
  const [b, a, mine] = [await keep('b', '?flagged=true'), await keep('a', ''), await keep('m', '?x=1', false)]
  const viewsOf = async (person: TestPerson): Promise<[string, boolean][]> =>
    (await person.read(path)).data.map(({ name, isFirst }: { name: string; isFirst: boolean }) => [
      name,
      isFirst,
    ])
  const beginning = async (person: TestPerson) => (await person.read('/session')).projects[0].firstView
  expect(await beginning(ada)).toBeNull()
  const order = { order: [mine, b, 'view_gone'], first: b }
  expect((await ada.send('PUT', `${path}/order`, order)).status).toBe(200)
  expect(await viewsOf(ada)).toEqual([
    ['m', false],
    ['b', true],
    ['a', false],
  ])
  expect(await viewsOf(bob)).toEqual([
    ['a', false],
    ['b', false],
  ])
  expect(await beginning(ada)).toBe('?flagged=true')
  // The overview is arranged apart from it.
  const overview = { order: ['cost', 'view_gone'], hidden: ['latency'] }
  expect((await ada.send('PUT', `${path}/order`, { overview })).status).toBe(200)
  expect([(await viewsOf(ada))[0], await beginning(ada)]).toEqual([['m', false], '?flagged=true'])
  const arranged = async (person: TestPerson) => (await person.read(path)).overview
  expect(await arranged(ada)).toEqual(overview)
  expect(await arranged(bob)).toEqual({ order: [], hidden: [] })
  await ada.send('PUT', `${path}/order`, { order: [b], first: null })
  expect([await arranged(ada), await beginning(ada)]).toEqual([overview, null])
  await ada.send('PUT', `${path}/order`, order)
  // Somebody else's own view is nobody's beginning.
  await bob.send('PUT', `${path}/order`, { order: [], first: mine })
  expect(await beginning(bob)).toBeNull()

  expect((await ada.send('PATCH', `${path}/${b}`, { name: ' Best ' })).status).toBe(200)
  expect([(await viewsOf(bob))[1], await beginning(ada)]).toEqual([['Best', false], '?flagged=true'])
  const byBob = await bob.send('PATCH', `${path}/${a}`, { name: 'Mine now' })
  await expectProblem(byBob, 'not_found')
  const blank = await ada.send('PATCH', `${path}/${a}`, { name: ' ' })
  await expectProblem(blank, 'invalid_request')
})

test('a person renames the views that they may delete, and no others', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const [ada, viewer] = [await people.join(project, 'member'), await people.join(project, 'viewer')]
  const keep = async (person: TestPerson, isShared: boolean) =>
    await (await person.send('POST', path, { name: 'Kept', page: 'chart', query: '', isShared })).json()
  const [mine, ours] = [await keep(ada, false), await keep(ada, true)]
  const rename = (person: TestPerson, { id }: { id: string }, name: string, at = path) =>
    person.send('PATCH', `${at}/${id}`, { name })
  expect(await (await rename(ada, mine, ' Who fails ')).json()).toEqual({ id: mine.id, name: 'Who fails' })
  expect((await rename(people.owner, ours, 'Ours')).status).toBe(200)
  const own = await keep(viewer, false)
  expect((await rename(viewer, own, 'My own')).status).toBe(200)
  for (const [person, view] of [
    [people.owner, mine],
    [viewer, ours],
  ] as const)
    await expectProblem(await rename(person, view, 'Theirs'), 'not_found')
  const elsewhere = `/projects/${(await people.mintProject()).id}/views`
  await expectProblem(await rename(people.owner, ours, 'Theirs', elsewhere), 'not_found')
  const { errors } = await expectProblem(await rename(ada, mine, ' '), 'invalid_request')
  expect(errors).toEqual([{ field: 'name', message: 'must not be blank' }])
  const { data } = await ada.read(path)
  expect(data.map(({ name, query }: Record<string, unknown>) => [name, query])).toEqual([
    ['Ours', ''],
    ['Who fails', ''],
  ])
})

test('an erasure by number deletes the views and queues that name the number, and no others', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const ada = await people.join(project, 'member')
  const digits = `49${String(Math.random()).slice(2, 12).padEnd(10, '7')}`
  const queries = {
    filter: `?callerNumber=${encodeURIComponent(`+${digits}`)}`,
    several: `?number=${encodeURIComponent(JSON.stringify([digits, '30']))}`,
    longer: `?number=${digits}5`,
    other: '?evaluation=fail',
  }
  for (const [name, query] of Object.entries(queries))
    await ada.send('POST', path, { name, query, isShared: false })
  await ada.send('POST', path, { name: `+${digits}`, query: '?text=blue', isShared: true })
  const namesOf = async () => (await ada.read(path)).data.map(({ name }: { name: string }) => name)
  for (const name of [`+${digits}`, 'Failed'])
    await ada.send('POST', `/projects/${project.id}/call-sets`, { name, query: '' })
  const ask = (body: object) => project.send('POST', '/v1/erasures', body)
  await ask({ number: `+${digits}`, dryRun: true })
  expect(await namesOf()).toHaveLength(5)
  const { id } = await (await ask({ number: `+${digits}` })).json()
  expect(await namesOf()).toEqual(['longer', 'other'])
  const queues = await ada.read(`/projects/${project.id}/call-sets`)
  expect(queues.data.map(({ name }: { name: string }) => name)).toEqual(['Failed'])
  await until(async () => (await (await project.fetch(`/v1/erasures/${id}`)).json()).status === 'done')
  const traces = [`%2B${digits}`, `+${digits}`, `%22${digits}`]
  if (!ofFilesOnly)
    expect(
      await findTraces(
        service.dataDir,
        traces.map((text) => ({ name: text, bytes: Buffer.from(text) })),
      ),
    ).toEqual([])
})

test('a viewer keeps views for themselves, of which nobody keeps more than a hundred', async () => {
  const project = await people.mintProject()
  const path = `/projects/${project.id}/views`
  const person = await people.join(project, 'member')
  const keep = (isShared: boolean) => person.send('POST', path, { name: 'Failed', query: '', isShared })
  const shared = await (await keep(true)).json()
  const role = { role: 'viewer' }
  await people.owner.send('PATCH', `/projects/${project.id}/people/${person.personId}`, role)
  await expectProblem(await keep(true), 'forbidden')
  // Others see it, so a viewer no longer deletes it.
  await expectProblem(await person.fetch(`${path}/${shared.id}`, { method: 'DELETE' }), 'not_found')
  const own = await (await keep(false)).json()
  const { data } = await person.read(path)
  expect(data.map(({ id, canChange }: Record<string, unknown>) => [id, canChange]).sort()).toEqual(
    [
      [shared.id, false],
      [own.id, true],
    ].sort(),
  )
  expect((await person.fetch(`${path}/${own.id}`, { method: 'DELETE' })).status).toBe(200)
  for (let kept = 1; kept < 100; kept++) await keep(false)
  await expectProblem(await keep(false), 'forbidden')
  expect((await people.owner.send('POST', path, { name: 'Mine', query: '', isShared: true })).status).toBe(
    200,
  )
})
