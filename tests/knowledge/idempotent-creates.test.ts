import { describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { erasures, idempotentCreates } from '../../src/db/schema.ts'
import { IdempotentCreates } from '../../src/knowledge/idempotent-creates.ts'
import { freshFolder } from '../support/at-end.ts'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'

const dayMs = 86_400_000
const inUse = 'Request with this Idempotency-Key is still running'
const reused = 'Idempotency-Key was used with another body'
const item = { name: 'Refunds', text: 'We refund any order within thirty days.' }

let aheadMs = 0

const embeddings = await startFakeEmbeddings()
const service = await startService({
  env: { EMBEDDING_ENDPOINT: embeddings.url, ERASE_WITHIN_MS: '500', KNOWLEDGE_TEXT_MAX_BYTES: '1000' },
  now: () => Date.now() + aheadMs,
})

function create(project: TestProject, key: string, body: unknown = item): Promise<Response> {
  return project.fetch('/v1/knowledge', {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })
}

async function countItems(project: TestProject): Promise<number> {
  return (await (await project.fetch('/v1/knowledge')).json()).length
}

describe('a create that is sent again under its Idempotency-Key', () => {
  test('answers the item that the first one made, and makes no other', async () => {
    const project = await service.mintProject()
    const first = await create(project, 'retry')
    const again = await create(project, 'retry')
    expect([first.status, again.status]).toEqual([201, 201])
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    for (const header of ['location', 'callbook-index'])
      expect(again.headers.get(header)).toBe(first.headers.get(header))
    expect(await again.json()).toEqual(await first.json())
    expect(await countItems(project)).toBe(1)
  })

  test('is the same request whatever is not a field, and however it is written', async () => {
    const project = await service.mintProject()
    const { id } = await (await create(project, 'k', { ...item, description: '' })).json()
    const { name, text } = item
    for (const body of [item, { text, name }, { ...item, unknown: 1 }]) {
      const again = await create(project, 'k', body)
      expect([again.status, (await again.json()).id]).toEqual([201, id])
    }
  })

  test('with another body is 422, and stores nothing', async () => {
    const project = await service.mintProject()
    await create(project, 'k')
    for (const body of [
      { ...item, name: 'Other' },
      { ...item, text: `${item.text} ` },
      { ...item, description: 'x' },
    ])
      await expectProblem(await create(project, 'k', body), 'idempotency_key_reused', reused)
    expect(await countItems(project)).toBe(1)
  })

  test('while the first is still running is 409 with Retry-After, and then the item', async () => {
    const project = await service.mintProject()
    embeddings.next({ delayMs: 400 })
    const first = create(project, 'slow')
    while ((await countItems(project)) === 0) await Bun.sleep(5)
    const second = await create(project, 'slow')
    expect(second.headers.get('retry-after')).toBe('1')
    await expectProblem(second, 'idempotency_key_in_use', inUse)
    const { id } = await (await first).json()
    expect((await (await create(project, 'slow')).json()).id).toBe(id)
  })

  test('many times at once makes one item', async () => {
    const project = await service.mintProject()
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(project, 'crowd')))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(1)
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([])
    expect(await countItems(project)).toBe(1)
  })

  test('in two processes at once makes one item, which both answer', async () => {
    const project = await service.mintProject()
    const { core, knowledge } = service.services
    const [one, other] = [1, 2].map(() => new IdempotentCreates(core, { knowledge }))
    const made = await Promise.all(
      [one, other].map((creates) => creates?.add(project.projectId, item, 'both')),
    )
    expect(made[0]?.item).toEqual(made[1]?.item)
    expect(made.map((answer) => answer?.isReplayed).sort()).toEqual([false, true])
    expect(await countItems(project)).toBe(1)
  })

  test('after the item was deleted is 410, and with another body still 422', async () => {
    const project = await service.mintProject()
    const { id } = await (await create(project, 'gone')).json()
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    await expectProblem(await create(project, 'gone'), 'item_was_deleted', 'Knowledge item was deleted')
    await expectProblem(
      await create(project, 'gone', { ...item, name: 'Other' }),
      'idempotency_key_reused',
      reused,
    )
    expect(await countItems(project)).toBe(0)
    expect((await create(project, 'another key')).status).toBe(201)
  })

  test('by another key of the project is the same create, in another project another one', async () => {
    const [project, other] = [await service.mintProject(), await service.mintProject()]
    const { id } = await (await create(project, 'k')).json()
    const { key } = await project.makeKey({ name: 'second' })
    const again = await project.fetch('/v1/knowledge', {
      method: 'POST',
      body: JSON.stringify(item),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k', authorization: `Bearer ${key}` },
    })
    expect((await again.json()).id).toBe(id)
    const elsewhere = await create(other, 'k', { ...item, name: 'Other' })
    expect(elsewhere.status).toBe(201)
    expect((await elsewhere.json()).id).not.toBe(id)
  })

  test('a day later is a create like any other, and what was kept is gone', async () => {
    const project = await service.mintProject()
    const { id } = await (await create(project, 'old')).json()
    await create(project, 'old too', { ...item, name: 'Two' })
    aheadMs += dayMs - 60_000
    expect((await (await create(project, 'old')).json()).id).toBe(id)
    aheadMs += 120_000
    const next = await create(project, 'old', { ...item, name: 'Another' })
    expect(next.status).toBe(201)
    expect(next.headers.get('idempotent-replayed')).toBeNull()
    expect(await rowsOf(project)).toHaveLength(1)
  })

  test('is answered after a restart as before it', async () => {
    const folder = freshFolder()
    const first = await startService({ dataDir: folder })
    const project = await first.mintProject()
    const { id } = await (await create(project, 'k')).json()
    await first.stop()
    const second = await startService({ dataDir: folder })
    const again = await fetch(`${second.url}/v1/knowledge`, {
      method: 'POST',
      body: JSON.stringify(item),
      headers: {
        authorization: `Bearer ${project.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'k',
      },
    })
    expect((await again.json()).id).toBe(id)
    await second.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('a create that failed', () => {
  test('leaves its key free', async () => {
    const project = await service.mintProject()
    await expectProblem(await create(project, 'k', { name: 'x' }), 'invalid_request')
    const long = { ...item, text: 'x'.repeat(1_001) }
    await expectProblem(await create(project, 'k', long), 'payload_too_large')
    const answer = await create(project, 'k')
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null])
  })

  test.each([[''], ['x'.repeat(256)], ['gr\u00fcn'], ['tab\tinside']])(
    'for its key %p is 400 with the header named',
    async (key) => {
      const project = await service.mintProject()
      const { errors } = await expectProblem(await create(project, key), 'invalid_request')
      expect(errors).toEqual([
        { field: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' },
      ])
      expect(await countItems(project)).toBe(0)
    },
  )
})

describe('what is kept', () => {
  test('is the item’s id and keyed hashes, and of a deleted item no byte', async () => {
    const project = await service.mintProject()
    const [key, name] = [newWord(), newWord()]
    const { id } = await (await create(project, key, { ...item, name })).json()
    expect(await rowsOf(project)).toEqual([
      {
        projectId: project.projectId,
        keyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        itemId: id,
        createdAt: expect.any(Number),
      },
    ])
    expect(await findTraces(service.dataDir, tracesOfWord(key))).toEqual([])
    await project.fetch(`/v1/knowledge/${id}`, { method: 'DELETE' })
    expect((await rowsOf(project))[0]?.itemId).toBeNull()
    const { read } = service.services.database
    const isDone = async () => {
      const rows = await read.select().from(erasures).where(eq(erasures.projectId, project.projectId))
      return rows.every(({ doneAt }) => doneAt !== null)
    }
    while (!(await isDone())) await Bun.sleep(20)
    const traces = [{ name: 'id', bytes: Buffer.from(id) }, ...tracesOfWord(name)]
    expect(await findTraces(service.dataDir, traces)).toEqual([])
  })
})

async function rowsOf(project: TestProject) {
  const { read } = service.services.database
  return await read.select().from(idempotentCreates).where(eq(idempotentCreates.projectId, project.projectId))
}
