import { expect, test } from 'bun:test'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { startService } from '../support/service.ts'

const hourMs = 3_600_000

test('a clock that jumps back and forth loses no write, no order and no chunk', async () => {
  const embeddings = await startFakeEmbeddings()
  let offset = 0
  const service = await startService({
    now: () => Date.now() + offset,
    env: { EMBEDDING_ENDPOINT: embeddings.url, INDEX_WAIT_MS: '100', ERASE_WITHIN_MS: '1000' },
  })
  const project = await service.mintProject()
  const add = async (name: string) => {
    const answer = await project.send('POST', '/v1/knowledge', { name, text: `Words about ${name}.` })
    expect(answer.status).toBe(201)
    return await answer.json()
  }
  const pending = async () => (await service.services.knowledge.figures(project.projectId)).pendingChunks
  embeddings.always({ status: 503 })
  const stuck = await add('stuck')
  while ((await pending()) === 0) await Bun.sleep(10)
  // Its next try is in the future, from where the clock comes back.
  while (!service.logs.some(({ msg }) => String(msg).startsWith('Embedding failed'))) await Bun.sleep(10)
  offset = -2 * hourMs
  embeddings.always(null)
  const earlier = await add('earlier')
  expect(Date.parse(earlier.createdAt)).toBeLessThan(Date.parse(stuck.createdAt))
  while ((await pending()) > 0) await Bun.sleep(20)

  offset = 48 * hourMs
  const later = await add('later')
  const list: { name: string }[] = await (await project.fetch('/v1/knowledge')).json()
  expect(list.map(({ name }) => name)).toEqual(['later', 'stuck', 'earlier'])
  await project.send('PUT', '/ingest/calls/c1', { summary: 'from tomorrow' })
  offset = -48 * hourMs
  const merged = await project.send('PUT', '/ingest/calls/c1', { duration: 5 })
  expect(await merged.json()).toMatchObject({ summary: 'from tomorrow', duration: 5 })
  for (const path of ['/v1/calls/c1', `/v1/knowledge/${later.id}`]) {
    expect((await project.fetch(path, { method: 'DELETE' })).status).toBe(200)
    expect((await project.fetch(path)).status).toBe(404)
  }
  expect((await project.send('PUT', '/ingest/calls/c1', {})).status).toBe(410)
  await service.stop()
  await embeddings.stop()
})
