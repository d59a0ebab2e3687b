import { describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { chunks, erasures } from '../../src/db/schema.ts'
import { mintBeside } from '../support/beside.ts'
import { addMarkedCall, addMarkedItem, type Marked } from '../support/marked.ts'
import { at } from '../support/node.ts'
import { type ServiceProcess, spawnService } from '../support/process.ts'
import { plansOf, record } from '../support/query-plan.ts'
import { startService, type TestProject } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { findTraces, newWord, tracesOfWord, untilInFiles } from '../support/traces.ts'
import { until } from '../support/until.ts'

const service = await startService({ env: { ERASE_WITHIN_MS: '500' } })

describe('a deleted item', () => {
  test.skipIf(ofFilesOnly)('is found by its whole key among all that were ever deleted', async () => {
    const project = await service.mintProject()
    const { writeWhenFull } = service.services.database
    const written = record(writeWhenFull)
    const { id } = await addMarked(project)
    expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
    await erasuresDone(project)
    const { file } = service.services.database
    const [plan] = await plansOf(file, written, /update "erasures" set done_at/)
    expect(plan).toContain('(project_id=? AND kind=? AND id_hash=?)')
    expect(plan).toMatch(/SEARCH erasures USING .*rowid=\?/)
    expect(plan).not.toMatch(/SCAN (?!json_each)/)
  })

  test.skipIf(ofFilesOnly)('leaves no byte of its texts, words and vectors in any file', async () => {
    const project = await service.mintProject()
    const kept = await addMarked(project)
    const gone = await addMarked(project)
    await service.services.index.eraseDeleted(project.projectId)
    await untilInFiles(service.dataDir, gone.traces)

    expect((await project.fetch(`/v1/knowledge/${gone.id}`, { method: 'DELETE' })).status).toBe(200)
    await erasuresDone(project)
    expect(await findTraces(service.dataDir, gone.traces)).toEqual([])
    expect(await foundBy(project, kept)).toEqual(['keyword', 'vector'])
  })

  test.skipIf(ofFilesOnly)(
    'leaves no byte of words that the keyword index takes in other forms: pairs, compatibility forms, accents',
    async () => {
      const project = await service.mintProject()
      // Ideographs, syllables and marks that occur in no other text of this file.
      const words = { 龘靐齉爩: ['龘靐', '靐齉', '齉爩'], 뷁쀍뛟: ['뷁쀍', '쀍뛟'], ฒ๊ฌ์ฑ๋: ['ฒ๊ฌ์', 'ฌ์ฑ๋'] }
      const latin = newWord()
      const wide = String.fromCodePoint(...[...latin].map((letter) => (letter.codePointAt(0) ?? 0) + 0xfee0))
      const greek = 'ψῴζξήφθ'
      const texts = [...Object.keys(words), wide, greek]
      const traces = [
        ...[...texts, ...Object.values(words).flat(), 'ψωζξηφθ'].map((text) => ({
          name: text,
          bytes: Buffer.from(text),
        })),
        ...tracesOfWord(latin),
      ]
      const answer = await project.send('POST', '/v1/knowledge', {
        name: `${Object.keys(words)[0]}${greek}`,
        text: `# ${texts.join(' ')}\n\n${texts.join('。')}`,
      })
      const { id }: { id: string } = await answer.json()
      const kept = await addMarked(project)
      for (const text of texts) expect(await firstBy(project, text)).toBe(id)
      await untilInFiles(service.dataDir, traces)

      expect((await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })).status).toBe(200)
      await erasuresDone(project)
      expect(await findTraces(service.dataDir, traces)).toEqual([])
      expect(await foundBy(project, kept)).toEqual(['keyword', 'vector'])
    },
  )

  test.skipIf(ofFilesOnly)(
    'takes nothing from its neighbours and other projects, whatever is deleted',
    async () => {
      const [project, other] = [await service.mintProject(), await service.mintProject()]
      const items = []
      for (let n = 0; n < 6; n++) items.push(await addMarked(project))
      const others = [await addMarked(other), await addMarked(other)]
      const gone = items.filter((_, n) => n % 3 === 0)
      const kept = items.filter((_, n) => n % 3 !== 0)
      const untouched = await project.fetch(`/v1/knowledge/${kept[0]?.id}`).then((answer) => answer.text())
      await Promise.all(gone.map(({ id }) => project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })))
      await erasuresDone(project)
      expect(
        await findTraces(
          service.dataDir,
          gone.flatMap(({ traces }) => traces),
        ),
      ).toEqual([])
      for (const item of kept) expect(await foundBy(project, item)).toEqual(['keyword', 'vector'])
      for (const item of others) expect(await foundBy(other, item)).toEqual(['keyword', 'vector'])
      const again = await project.fetch(`/v1/knowledge/${kept[0]?.id}`)
      expect(await again.text()).toBe(untouched)
    },
  )

  test('leaves a receipt in the ledger that says nothing of it', async () => {
    const project = await service.mintProject()
    const { id } = await addMarked(project)
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    await erasuresDone(project)
    const rows = await service.services.database.read
      .select()
      .from(erasures)
      .where(eq(erasures.projectId, project.projectId))
    expect(rows).toEqual([
      {
        projectId: project.projectId,
        kind: 'item',
        idHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        record: expect.any(Number),
        changeSeq: 2,
        requestedAt: expect.any(Number),
        doneAt: expect.any(Number),
        requestId: null,
      },
    ])
    expect(rows[0]?.doneAt ?? 0).toBeGreaterThanOrEqual(rows[0]?.requestedAt ?? Number.POSITIVE_INFINITY)
  })

  test('that was the last leaves no index file', async () => {
    const project = await service.mintProject()
    const { id } = await addMarked(project)
    await service.services.index.eraseDeleted(project.projectId)
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    await erasuresDone(project)
    expect(await Bun.file(`${service.dataDir}/indexes/${project.projectId}.hnsw`).exists()).toBe(false)
  })

  test.skipIf(ofFilesOnly)('is erased as well when its vectors were never made', async () => {
    const project = await service.mintProject()
    const item = await addMarked(project)
    await service.services.database.write
      .update(chunks)
      .set({ embedding: null, embeddingSpace: null, nextAttemptAt: Date.now() + 3_600_000 })
      .where(eq(chunks.projectId, project.projectId))
    expect((await project.fetch(`/v1/knowledge/${item.id}`, { method: 'DELETE' })).status).toBe(200)
    await erasuresDone(project)
    expect(await findTraces(service.dataDir, item.traces)).toEqual([])
  })

  test.skipIf(ofFilesOnly)(
    'is erased while others are written, read, searched and deleted, of which none fails',
    async () => {
      const project = await service.mintProject()
      for (let n = 0; n < 20; n++) await addFiller(project, n)
      const gone: Marked[] = []
      for (let n = 0; n < 10; n++) gone.push(await addMarked(project))
      const statuses: number[] = []
      let isDone = false
      const repeat = async (request: (n: number) => Promise<Response>) => {
        for (let n = 0; !isDone; n++) {
          const answer = await request(n)
          await answer.arrayBuffer()
          statuses.push(answer.status)
          await Bun.sleep(15)
        }
      }
      const load = [
        repeat((n) => addFiller(project, 1_000 + n)),
        repeat(() => project.fetch('/v1/knowledge')),
        repeat((n) => search(project, `filler ${n}`, 'hybrid')),
        repeat((n) => search(project, gone[n % gone.length]?.words[0] ?? '', 'keyword')),
        repeat((n) => project.send('PUT', `/ingest/calls/call-${n % 20}`, { summary: `summary ${n}` })),
        repeat((n) => project.fetch(`/v1/calls?limit=5&offset=${n % 3}`)),
      ]
      for (const { id } of gone) {
        const answer = await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
        statuses.push(answer.status)
      }
      await erasuresDone(project)
      const found = await findTraces(
        service.dataDir,
        gone.flatMap(({ traces }) => traces),
      )
      isDone = true
      await Promise.all(load)
      expect(found).toEqual([])
      expect(statuses.filter((status) => status >= 300)).toEqual([])
      expect(statuses.length).toBeGreaterThan(50)
      const failures = service.logs.filter(({ msg }) => /failed/i.test(String(msg)))
      expect(failures).toEqual([])
    },
  )
})

describe.skipIf(ofFilesOnly)('kill -9', () => {
  test('between a deletion and its erasure: it is made good before the service is ready', async () => {
    let running = await spawnService({ ERASE_WITHIN_MS: '60000' })
    const { dataDir } = running
    try {
      const project = projectOf(running)
      const kept = await addMarked(project)
      const gone = await addMarked(project)
      const isSaved = async () =>
        (await findTraces(dataDir, gone.traces)).some((line) => line.endsWith('.hnsw'))
      await until(isSaved, 'Saving the index')
      expect((await project.fetch(`/v1/knowledge/${gone.id}`, { method: 'DELETE' })).status).toBe(200)
      running.kill('SIGKILL')
      await running.exited
      expect((await findTraces(dataDir, gone.traces)).length).toBeGreaterThan(0)

      const key = project.key
      running = await spawnService({ ERASE_WITHIN_MS: '60000', DATA_DIR: dataDir })
      expect(await findTraces(dataDir, gone.traces)).toEqual([])
      const after = projectOf(running, key)
      expect((await after.fetch(`/v1/knowledge/${gone.id}`)).status).toBe(404)
      expect((await after.fetch(`/v1/knowledge/${kept.id}`)).status).toBe(200)
      expect(await foundBy(after, kept)).toEqual(['keyword', 'vector'])
    } finally {
      running.kill('SIGKILL')
      await running.exited
      rmSync(dataDir, { recursive: true, force: true })
    }
  })

  test('at any moment of an erasure: nothing is left and nothing else is lost after the next start', async () => {
    // What is asked for is gathered for a quarter of this time. Then words, vectors and copies of them are erased.
    const env = { ERASE_WITHIN_MS: '500' }
    let running = await spawnService(env)
    const { dataDir } = running
    const keys = await mintBeside(dataDir)
    try {
      const kept = await addMarked(at(running, keys))
      const keptCall = await addMarkedCall(at(running, keys))
      await fillSegment(at(running, keys))
      for (const waitMs of [130, 160]) {
        const project = at(running, keys)
        const gone = [await addMarked(project), await addMarkedCall(project), await addMarkedCall(project)]
        // So that all words are in their segments.
        await Bun.sleep(300)
        await Promise.all(gone.map(({ path }) => project.fetch(path, { method: 'DELETE' })))
        await Bun.sleep(waitMs)
        running.kill('SIGKILL')
        await running.exited
        running = await spawnService({ ...env, DATA_DIR: dataDir })
        expect(
          await findTraces(
            dataDir,
            gone.flatMap(({ traces }) => traces),
          ),
        ).toEqual([])
        const after = at(running, keys)
        expect(await foundBy(after, kept)).toEqual(['keyword', 'vector'])
        const { data }: { data: { id: string }[] } = await after
          .fetch(`/v1/calls?text=${keptCall.words[1]}`)
          .then((answer) => answer.json())
        expect(data.map(({ id }) => id)).toEqual([keptCall.id])
      }
    } finally {
      running.kill('SIGKILL')
      await running.exited
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

/** With so many words that rewriting the segment takes a while. */
async function fillSegment(project: Sender): Promise<void> {
  const summaries = Array.from({ length: 150 }, (_, n) =>
    Array.from({ length: 400 }, (_, at) => `word${(n * 37 + at * 11) % 5_000}`).join(' '),
  )
  await Promise.all(
    summaries.map((summary, n) => project.send('PUT', `/ingest/calls/filler-${n}`, { summary })),
  )
}

type Sender = Pick<TestProject, 'fetch' | 'send'>

async function addMarked(project: Sender): Promise<Marked> {
  const item = await addMarkedItem(project)
  await until(async () => (await foundBy(project, item)).length === 2, 'Finding it by word and by vector')
  return item
}

function addFiller(project: Sender, n: number): Promise<Response> {
  const text = Array.from({ length: 300 }, (_, at) => `word${(n * 37 + at * 11) % 5_000}`).join(' ')
  return project.send('POST', '/v1/knowledge', { name: `Filler ${n}`, text })
}

function search(project: Sender, query: string, mode: string): Promise<Response> {
  return project.send('POST', '/v1/knowledge/search', { query, mode, timeoutMs: 5_000 })
}

/** The modes in which an item is found. Not always first: vectors of made-up words can be alike by chance. */
async function foundBy(project: Sender, { id, words }: Marked): Promise<string[]> {
  const modes = []
  for (const mode of ['keyword', 'vector']) {
    const answer = await search(project, words.join(' '), mode)
    const { data, mode: used }: { data: { itemId: string }[]; mode: string } = await answer.json()
    if (data.some(({ itemId }) => itemId === id) && used === mode) modes.push(mode)
  }
  return modes
}

async function firstBy(project: Sender, query: string): Promise<string | undefined> {
  const { data }: { data: { itemId: string }[] } = await search(project, query, 'keyword').then((a) =>
    a.json(),
  )
  return data[0]?.itemId
}

async function erasuresDone(project: TestProject): Promise<void> {
  const { read } = service.services.database
  const deadline = Date.now() + 10_000
  while (Date.now() < deadline) {
    const open = await read
      .select({ n: sql`1` })
      .from(erasures)
      .where(and(eq(erasures.projectId, project.projectId), isNull(erasures.doneAt)))
    if (open.length === 0) return
    await Bun.sleep(20)
  }
  throw new Error('The erasures were not done')
}

function projectOf({ url, banner }: ServiceProcess, knownKey?: string): Sender & { key: string } {
  const key = knownKey ?? /ck_live_[0-9a-f]{60}/.exec(banner)?.[0] ?? ''
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${key}`)
    return fetch(url + path, { ...init, headers })
  }
  return {
    key,
    fetch: call,
    send: (method, path, body) =>
      call(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }
}
