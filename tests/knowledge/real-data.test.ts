import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { chunks } from '../../src/db/schema.ts'
import { passageText } from '../../src/knowledge/chunking/passage-text.ts'
import { documentName } from '../../src/knowledge/files/read-file.ts'
import { repository } from '../support/process.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'

interface Document {
  file: string
  name: string
  text: string
}

const folder = join(repository, '../shared/data/knowledge')
const isThere = existsSync(folder)
if (!isThere) skipped(`there is no ${folder}`)

describe.skipIf(!isThere)('documents as people write them', () => {
  const documents = isThere ? readDocuments() : []
  const ids = new Map<string, string>()
  let service: TestService
  let project: TestProject

  beforeAll(async () => {
    service = await startService({ env: { INDEX_WAIT_MS: '30000' } })
    project = await service.mintProject()
    await inTurns(documents, 8, async ({ file, name, text }) => {
      const answer = await project.send('POST', '/v1/knowledge', { name, text, description: file })
      expect([file, answer.status, answer.headers.get('callbook-index')]).toEqual([file, 201, 'ready'])
      const { id }: { id: string } = await answer.json()
      ids.set(file, id)
    })
  })

  test('come back byte for byte', async () => {
    expect(ids.size).toBe(documents.length)
    await inTurns(documents, 8, async ({ file, name, text }) => {
      const item: { text: string } = await (await project.fetch(`/v1/knowledge/${ids.get(file)}`)).json()
      expect(item).toMatchObject({ id: ids.get(file), name, description: file })
      expect(Buffer.from(item.text).equals(Buffer.from(text))).toBe(true)
    })
    const list: { id: string }[] = await project.fetch('/v1/knowledge').then((answer) => answer.json())
    expect(list.map(({ id }) => id).toSorted()).toEqual([...ids.values()].toSorted())
  })

  test('are whole in their chunks', async () => {
    const rows = await chunkRows()
    const texts = new Map<number, string>()
    for (const { itemSeq, text, overlapChars } of rows)
      texts.set(itemSeq, (texts.get(itemSeq) ?? '') + text.slice(overlapChars))
    expect(new Set(texts.values())).toEqual(new Set(documents.map(({ text }) => passageText(text))))
  })

  test('are found by their titles', async () => {
    const titles = documents.filter(
      ({ name }) =>
        name.split(' ').length > 2 && documents.filter((other) => other.name === name).length === 1,
    )
    expect(titles.length).toBeGreaterThan(10)
    let found = 0
    for (const { file, name } of titles) {
      if ((await search(name)).slice(0, 5).includes(ids.get(file) ?? '')) found++
    }
    expect(found / titles.length).toBeGreaterThan(0.85)
  })

  test('have an index of exactly the labels of their rows', async () => {
    await expectIndexOfRows()
  })

  test('of which a third is deleted leave the rest as it was', async () => {
    const gone = documents.filter((_, n) => n % 3 === 0)
    const kept = documents.filter((_, n) => n % 3 !== 0)
    await inTurns(gone, 8, async ({ file }) => {
      expect((await project.fetch(`/v1/knowledge/${ids.get(file)}`, { method: 'DELETE' })).status).toBe(200)
    })
    const list: { id: string; text: string }[] = await project
      .fetch('/v1/knowledge')
      .then((answer) => answer.json())
    const texts = new Map(list.map(({ id, text }) => [id, text]))
    expect(texts).toEqual(new Map(kept.map(({ file, text }) => [ids.get(file) ?? '', text])))
    const goneIds = new Set(gone.map(({ file }) => ids.get(file) ?? ''))
    for (const { name } of documents) expect((await search(name)).filter((id) => goneIds.has(id))).toEqual([])
    await expectIndexOfRows()
  })

  async function search(query: string): Promise<string[]> {
    const request = { query: query.slice(0, 2_000), limit: 10, timeoutMs: 5_000 }
    const answer = await project.send('POST', '/v1/knowledge/search', request)
    expect(answer.status).toBe(200)
    const { data }: { data: { itemId: string }[] } = await answer.json()
    return [...new Set(data.map(({ itemId }) => itemId))]
  }

  function chunkRows() {
    return service.services.database.read
      .select()
      .from(chunks)
      .where(eq(chunks.projectId, project.projectId))
      .orderBy(chunks.itemSeq, chunks.position)
  }

  async function expectIndexOfRows(): Promise<void> {
    const { index } = service.services
    await index.eraseDeleted(project.projectId)
    const report = await index.verify(project.projectId)
    const rows = await chunkRows()
    expect(rows.every(({ embedding }) => embedding !== null)).toBe(true)
    expect(report).toMatchObject({
      problem: null,
      fileVectors: rows.length,
      rowVectors: rows.length,
      labelsWithoutRow: [],
      rowsNotInFile: 0,
    })
    expect(report.recallAt10 ?? 0).toBeGreaterThan(0.9)
  }
})

function readDocuments(): Document[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      return { file, name: documentName(text) ?? file, text }
    })
}

async function inTurns<T>(values: T[], atOnce: number, work: (value: T) => Promise<void>): Promise<void> {
  const left = [...values]
  const worker = async () => {
    for (let value = left.shift(); value !== undefined; value = left.shift()) await work(value)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
