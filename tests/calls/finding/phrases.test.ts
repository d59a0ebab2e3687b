import { expect, test } from 'bun:test'
import type { SQL } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { readCallSearch } from '../../../src/calls/finding/call-query.ts'
import { FoundPages } from '../../../src/calls/finding/found-pages.ts'
import { timeOrders } from '../../../src/calls/finding/place.ts'
import { recording } from '../../support/query-plan.ts'
import { startService } from '../../support/service.ts'
import { putCalls, said } from '../put-calls.ts'

const service = await startService()
const project = await service.mintProject()
const others = Array.from({ length: 2_600 }, (_, at) => ({
  id: `z-${at}`,
  createdAt: new Date(Date.UTC(2026, 0, 5) + at).toISOString(),
  ...said('The refund was late.'),
}))
const hits = ['a', 'b', 'c'].map((id) => ({
  id,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...said('A late refund.'),
}))
await putCalls(service.services, project.projectId, [...hits, ...others])
await service.services.wordBacklog.finish()

const text = '"late refund"'

async function pageOf(query: Record<string, string>) {
  const answer = await project.fetch(`/v1/calls?${new URLSearchParams({ text, ...query })}`)
  expect(answer.status).toBe(200)
  const { data, pagination }: { data: { id: string }[]; pagination: { next: string | null } } =
    await answer.json()
  return { ids: data.map(({ id }) => id), ...pagination }
}

test('a page of a phrase that many calls could have ends early, and the next one goes on', async () => {
  const first = await pageOf({ limit: '2' })
  expect(first).toMatchObject({ ids: [], total: 0, totalIsCapped: true })
  const second = await pageOf({ limit: '2', cursor: first.next ?? '' })
  expect(second).toMatchObject({ ids: ['c', 'b'], total: 0, totalIsCapped: true })
  const third = await pageOf({ limit: '2', cursor: second.next ?? '' })
  expect(third).toMatchObject({ ids: ['a'], next: null })
  expect(await pageOf({ order: 'createdAt', limit: '3' })).toMatchObject({
    ids: ['a', 'b', 'c'],
    total: 3,
    totalIsCapped: true,
  })
  expect(await pageOf({ offset: '1', limit: '1' })).toMatchObject({ ids: ['b'] })
  expect(await pageOf({ limit: '0' })).toMatchObject({ ids: [], total: 0, totalIsCapped: true, next: null })
  expect(await pageOf({ to: '2026-01-02' })).toMatchObject({ ids: ['c', 'b', 'a'], total: 3, next: null })
})

test('every call that has the phrase is in the lists that have no pages', async () => {
  const lines = await project.fetch(`/v1/calls?${new URLSearchParams({ text })}`, {
    headers: { accept: 'application/x-ndjson' },
  })
  const found = (await lines.text()).trim().split('\n')
  expect(found.map((line) => JSON.parse(line).id)).toEqual(['c', 'b', 'a'])
})

test('the console is told where to go on', async () => {
  const { calls } = service.services
  const first = await calls.rows(project.projectId, { text })
  expect(first).toMatchObject({ data: [], total: null })
  const second = await calls.rows(project.projectId, { text, cursor: first.nextCursor ?? '' })
  expect(second.data.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(second.nextCursor).toBeNull()
})

test('each query reads few documents, so that others are answered in between', async () => {
  const statements: SQL[] = []
  const db = recording(service.services.database.readInBackground, statements)
  const search = readCallSearch({ text }, { orders: timeOrders, readCursor: () => undefined }, [])
  await new FoundPages(db, project.projectId, search).page(1)
  const queries = statements.map((statement) => new SQLiteSyncDialect().sqlToQuery(statement))
  const checked = queries.filter(({ sql }) => sql.includes(' like '))
  const documents = checked.map(({ params }) => JSON.parse(String(params[0])).length)
  expect(documents.reduce((sum, count) => sum + count, 0)).toBe(2_000)
  expect(Math.max(...documents)).toBeLessThanOrEqual(500)
})
