import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { chunkWords, chunkWordsMeta, unfinishedChunkWords } from '../../src/db/word-tables.ts'
import { refillWords } from '../../src/knowledge/word-filling.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

const documents = [
  { name: 'Refunds', text: '# Money back\n\nWe refund any order within thirty days.', query: 'refunded' },
  { name: '退款', text: '我们在三十天内办理退款政策。请联系客服团队。', query: '客服' },
  { name: 'การคืนเงิน', text: 'เราคืนเงินภายในสามสิบวัน ติดต่อฝ่ายบริการลูกค้า', query: 'คืนเงิน' },
  { name: '返品', text: '三十日以内に返品できます。データはカタカナです。', query: 'データ' },
  { name: '환불', text: '환불은 삼십일 이내에 가능합니다.', query: '환불' },
  { name: 'Print', text: 'The ﬁne print ＡＢＣ１２ applies.', query: 'fine abc12' },
  { name: '客户手册', text: 'Only the name of this one is Chinese.', query: '手册' },
]
const dataDir = mkdtempSync(join(tmpdir(), 'callbook-'))
let service: TestService
let project: TestProject

beforeAll(async () => {
  service = await startService({ dataDir })
  project = await service.mintProject()
})

afterAll(async () => {
  await service.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('the keyword index that an earlier version made', () => {
  test('is filled anew at the start, once: every word is found as if it had been added today', async () => {
    for (const { name, text } of documents) await add(project, name, text)
    await makeOld(project)
    expect(await namesFound(project)).not.toEqual(documents.map(({ name }) => name))

    await restart()
    expect(await namesFound(project)).toEqual(documents.map(({ name }) => name))
    expect(refills()).toEqual([{ projectId: project.projectId, chunks: documents.length }])
    await restart()
    expect(refills()).toEqual([])
  })

  test('of a project made today is left alone', async () => {
    const fresh = await service.mintProject()
    await add(fresh, 'Fresh', '新的退款政策')
    await restart()
    expect(refills()).toEqual([])
    expect(await search(fresh, '政策')).toEqual(['Fresh'])
  })

  test('is gone on with where it was broken off, and nothing is in it twice', async () => {
    const own = await service.mintProject()
    for (const { name, text } of documents) await add(own, name, text)
    const { write } = service.services.database
    await makeOld(own)
    await refillWords(service.services.database, own.projectId)
    await write.batch([
      write.run(sql`delete from ${chunkWords(own.projectId)} where rowid in (
        select label from chunks where project_id = ${own.projectId} and label % 2 = 0)`),
      write.run(
        sql`update meta set value = ${unfinishedChunkWords} where name = ${chunkWordsMeta(own.projectId)}`,
      ),
    ])
    expect(await namesFound(own)).not.toEqual(documents.map(({ name }) => name))
    await restart()
    expect(await namesFound(own)).toEqual(documents.map(({ name }) => name))
    expect(await wordRows(own)).toEqual(await chunkRows(own))
  })

  test('has what is added and lacks what is deleted while it is being filled', async () => {
    const own = await service.mintProject()
    const ids: string[] = []
    for (let n = 0; n < 20; n++) ids.push(await add(own, `Long ${n}`, longText(n)))
    await makeOld(own)
    const { database, knowledge } = service.services
    const [filled] = await Promise.all([
      refillWords(database, own.projectId),
      ...ids.slice(0, 8).map((id) => knowledge.remove(own.projectId, id)),
      ...Array.from({ length: 8 }, (_, n) => add(own, `New ${n}`, longText(100 + n))),
    ])
    expect(filled).toBeGreaterThan(300)
    expect(await wordRows(own)).toEqual(await chunkRows(own))
    expect(await refillWords(database, own.projectId)).toBeNull()
    expect((await search(own, '第107章')).at(0)).toBe('New 7')
  })

  test('is not touched by a process that does not own the folder', async () => {
    await makeOld(project)
    const other = await startService({ dataDir })
    expect(other.services.ownsFolder).toBe(false)
    await other.stop()
    expect(await namesFound(project)).not.toEqual(documents.map(({ name }) => name))
    await restart()
    expect(await namesFound(project)).toEqual(documents.map(({ name }) => name))
  })
})

/** As the version made it that knew no pairs: commit 4aa15e2. */
async function makeOld({ projectId }: TestProject): Promise<void> {
  const table = chunkWords(projectId)
  const { write } = service.services.database
  await write.batch([
    write.run(sql`drop table ${table}`),
    write.run(
      sql`create virtual table ${table} using fts5(heading, text, content='', contentless_delete=1,
        tokenize='porter unicode61 remove_diacritics 2')`,
    ),
    write.run(sql`
      insert into ${table} (rowid, heading, text)
      select label, name || ' ' || coalesce(heading, ''), chunks.text
      from chunks join knowledge_items on seq = item_seq where chunks.project_id = ${projectId}`),
    write.run(sql`delete from meta where name = ${chunkWordsMeta(projectId)}`),
  ])
}

async function restart(): Promise<void> {
  await service.stop()
  service = await startService({ dataDir })
}

function refills(): unknown[] {
  return service.logs
    .filter(({ msg }) => String(msg).includes('filled anew'))
    .map(({ projectId, chunks }) => ({ projectId, chunks }))
}

function longText(n: number): string {
  const line = (at: number) =>
    `第${n}章第${at}节说明退款政策和客服团队的工作时间，以及订单${n * 1_000 + at}的状态。`
  return Array.from({ length: 1_000 }, (_, at) => line(at)).join('\n')
}

async function add({ projectId }: TestProject, name: string, text: string): Promise<string> {
  const { item } = await service.services.knowledge.store(projectId, { name, text })
  return item.id
}

/** The best item for each document's query. */
async function namesFound(target: TestProject): Promise<(string | undefined)[]> {
  const found = []
  for (const { query } of documents) found.push((await search(target, query))[0])
  return found
}

async function search({ projectId }: TestProject, query: string): Promise<string[]> {
  const { data } = await service.services.search.search(projectId, { query, mode: 'keyword' })
  return data.map(({ name }) => name)
}

async function wordRows({ projectId }: TestProject): Promise<unknown[]> {
  return await service.services.database.read.all(
    sql`select id as label from ${chunkWords(projectId)}_docsize order by id`,
  )
}

async function chunkRows({ projectId }: TestProject): Promise<unknown[]> {
  return await service.services.database.read.all(
    sql`select label from chunks where project_id = ${projectId} order by label`,
  )
}
