import { expect, test } from 'bun:test'
import { startService } from '../../support/service.ts'
import { exportParts } from '../put-calls.ts'

const service = await startService()

test('comes in small parts, whatever belongs to the calls: a database on a server answers no larger ones', async () => {
  const { projectId } = await service.mintProject()
  const ids = Array.from({ length: 60 }, (_, n) => `call-${n}`)
  const change = { summary: 'said', metadata: { notes: 'x'.repeat(60_000) } }
  await service.services.ingest.putAll(
    projectId,
    ids.map((id) => ({ id, change })),
  )
  let text = ''
  for (const part of await exportParts(service.services, projectId)) {
    expect(part.length).toBeLessThan(400_000)
    text += part
  }
  const calls = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(calls.map(({ id }) => id).sort()).toEqual(ids.sort())
  for (const { metadata } of calls) expect(metadata).toEqual(change.metadata)
})
