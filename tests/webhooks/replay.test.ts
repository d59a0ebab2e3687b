import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { plansOf, record } from '../support/query-plan.ts'
import { receiverEnv } from '../support/receiver.ts'
import { startService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'

const service = await startService({ env: receiverEnv })

test('of several pages queues each record once', async () => {
  const project = await service.mintProject()
  const line = (at: number) => JSON.stringify({ id: `call-${at}`, status: 'completed' })
  const body = Array.from({ length: 2_300 }, (_, at) => line(at)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  await (await project.fetch('/ingest/calls', { method: 'POST', headers, body })).text()
  await project.send('POST', '/v1/knowledge', { name: 'Prices', text: 'Ten.' })
  await project.fetch('/v1/calls/call-7', { method: 'DELETE' })
  const { webhooks, database } = service.services
  const { id } = await webhooks.create(project.projectId, { url: 'http://127.0.0.1:9/hook' })
  expect(await webhooks.replay(project.projectId, id, 0)).toEqual({ id, queued: 2_301 })
  const [queue] = await database.read.all<{ rows: number; seqs: number; least: number }>(sql`
    select count(*) as rows, count(distinct seq) as seqs, min(seq) as least
    from webhook_queue where webhook_id = ${id}`)
  expect(queue).toEqual({ rows: 2_301, seqs: 2_301, least: 1 })
})

test.skipIf(ofFilesOnly)('finds the end of a page by indexes, without sorting all that is left', async () => {
  const project = await service.mintProject()
  await project.send('PUT', '/ingest/calls/a', {})
  const { webhooks, database } = service.services
  const { id } = await webhooks.create(project.projectId, { url: 'http://127.0.0.1:9/hook' })
  const statements = record(database.read)
  await webhooks.replay(project.projectId, id, 0)
  const [plan = ''] = await plansOf(database.file, statements, /as last$/)
  expect(plan).not.toContain('TEMP B-TREE')
  for (const index of ['calls_by_change', 'knowledge_items_by_change', 'erasures_by_change'])
    expect(plan).toMatch(
      new RegExp(`SEARCH \\w+ USING COVERING INDEX ${index} \\(project_id=\\? AND change_seq>`),
    )
})
