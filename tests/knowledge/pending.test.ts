import { expect, test } from 'bun:test'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { plansOf, record } from '../support/query-plan.ts'
import { startService } from '../support/service.ts'
import { ofFilesOnly } from '../support/test-mode.ts'
import { until } from '../support/until.ts'

test.skipIf(ofFilesOnly)(
  'pending chunks are found and counted without scanning the other chunks',
  async () => {
    const embeddings = await startFakeEmbeddings()
    embeddings.always({ status: 503 })
    const service = await startService({ env: { EMBEDDING_ENDPOINT: embeddings.url, INDEX_WAIT_MS: '50' } })
    const { read, file } = service.services.database
    const statements = record(read)
    const [project, gone] = [await service.mintProject(), await service.mintProject()]
    for (const { send } of [project, gone])
      expect((await send('POST', '/v1/knowledge', { name: 'Pending', text: 'Embedded later.' })).status).toBe(
        201,
      )
    await service.services.projects.delete(gone.projectId)
    const metrics = await service.services.metrics.text()
    expect(metrics).toMatch(/_pending_chunks 1$/m)
    const counted = await plansOf(file, statements, /count\(\*\) as n\s+from chunks/)
    await until(async () => (await plansOf(file, statements, /distinct project_id/)).length > 0)
    const found = await plansOf(file, statements, /distinct project_id/)
    expect(counted.length).toBeGreaterThan(0)
    for (const plan of [...counted, ...found])
      expect(plan).toMatch(/^SCAN chunks USING (COVERING )?INDEX chunks_pending$/m)
    await service.stop()
    await embeddings.stop()
  },
)
