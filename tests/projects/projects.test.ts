import { describe, expect, test } from 'bun:test'
import { people } from '../../src/db/schema.ts'
import { openFreshDatabase } from '../support/database.ts'
import { failureOf } from '../support/failure.ts'
import { projectsOf } from '../support/projects.ts'

const { database } = await openFreshDatabase()
const projects = projectsOf(database)
await projects.create('taken')

describe('renaming a project', () => {
  test('changes its name and nothing else', async () => {
    const project = await projects.create('before')
    expect(await projects.rename(project.projectId, 'after')).toEqual({ ...project, name: 'after' })
    expect(await projects.find('after')).toEqual({ ...project, name: 'after' })
    expect(await failureOf(projects.find('before'))).toMatchObject({ code: 'not_found' })
  })

  test('to its current name succeeds', async () => {
    const project = await projects.create('same')
    expect(await projects.rename(project.projectId, 'same')).toEqual(project)
  })

  test.each([
    ['', 'must not be blank'],
    [' \t', 'must not be blank'],
    ['x'.repeat(201), 'must be at most 200 characters'],
    ['a\u202eb', 'must not contain U+202E: control, direction and invisible characters are not allowed'],
    ['taken', 'is taken by another project'],
  ])('to %p is refused', async (name, message) => {
    const project = await projects.create(crypto.randomUUID())
    expect(await failureOf(projects.rename(project.projectId, name))).toMatchObject({
      code: 'invalid_request',
      errors: [{ field: 'name', message }],
    })
    expect(await projects.get(project.projectId)).toEqual(project)
  })

  test('that does not exist is not found', async () => {
    expect(await failureOf(projects.rename(4_711, 'x'))).toMatchObject({ code: 'not_found' })
  })
})

describe('a name that several projects have', () => {
  test('finds one of them only by its id, which the message lists', async () => {
    const now = new Date()
    const owners = ['per_1', 'per_2'].map((id) => ({
      id,
      name: id,
      email: id,
      createdAt: now,
      updatedAt: now,
    }))
    await database.write.insert(people).values(owners)
    const made = []
    for (const ownerId of [null, 'per_1', 'per_2']) made.push(await projects.create('shared', { ownerId }))
    expect(await failureOf(projects.find('shared'))).toMatchObject({
      code: 'invalid_request',
      detail: `Several projects are called shared. Use the id of the one you mean: ${made.map(({ id }) => id).join(', ')}.`,
    })
    for (const project of made) expect(await projects.find(project.id)).toEqual(project)
    const elsewhere = await projects.create('elsewhere', { ownerId: 'per_1' })
    expect(await failureOf(projects.rename(elsewhere.projectId, 'shared'))).toMatchObject({
      errors: [{ field: 'name', message: 'is taken by another project' }],
    })
    await projects.rename(elsewhere.projectId, 'taken')
  })

  test('is given to only one project without an owner, also when several are created at a time', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => projects.create('at once')))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'invalid_request' })
  })
})

describe('removing a project', () => {
  test('needs its exact name where it must be confirmed', async () => {
    const project = await projects.create('Confirm me')
    for (const confirm of ['', 'confirm me', 'Confirm me ', project.id])
      expect(await failureOf(projects.delete(project.projectId, { confirm }))).toMatchObject({
        code: 'invalid_request',
        errors: [{ field: 'confirm', message: "must be the project's name" }],
      })
    expect(await projects.get(project.projectId)).toEqual(project)
    expect(await projects.delete(project.projectId, { confirm: 'Confirm me' })).toEqual({
      id: project.id,
      deleted: true,
    })
  })

  test('succeeds once, however many requests ask for it at a time', async () => {
    const project = await projects.create('wanted gone')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => projects.delete(project.projectId)),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'not_found' })
    }
  })

  test('works also when another project has its id as a name', async () => {
    const project = await projects.create('has an id')
    await projects.create(project.id)
    expect((await projects.delete(project.projectId)).deleted).toBe(true)
    expect((await projects.find(project.id)).name).toBe(project.id)
  })

  test('does not make the database count as new', async () => {
    for (const { projectId } of await projects.list()) await projects.delete(projectId)
    expect(await projects.list()).toEqual([])
    expect(await projects.createFirst('default')).toBeNull()
  })
})
