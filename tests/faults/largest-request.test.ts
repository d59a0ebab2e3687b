import { expect, setDefaultTimeout, test } from 'bun:test'
import { startService } from '../support/service.ts'

setDefaultTimeout(120_000)

test('while the largest requests that are legal are taken, every other is answered, and rightly', async () => {
  const service = await startService()
  const project = await service.mintProject()
  await project.send('PUT', '/ingest/calls/small', { summary: 'small' })
  const bodyMax = service.services.config.bodyBytesMax
  const numbers = `[${'1,'.repeat(Math.floor((bodyMax - 40) / 2))}1]`
  const large = [
    { path: '/ingest/calls/numbers', body: `{"callAnalysis":{"n":${numbers}}}` },
    { path: '/ingest/calls/turns', body: JSON.stringify({ transcript: turns(10_000, 1_500) }) },
    { path: '/ingest/calls/unknown', body: `{"unknown":${'['.repeat(100)}${']'.repeat(100)}}` },
  ]
  let isBusy = true
  const others = (async () => {
    const statuses = new Set<number>()
    while (isBusy) {
      for (const path of ['/v1/calls/small', '/v1/knowledge'])
        statuses.add((await project.fetch(path)).status)
      statuses.add((await fetch(`${service.url}/ready`)).status)
    }
    return statuses
  })()
  const answers = await Promise.all(
    large.map(async ({ path, body }) => {
      expect(body.length).toBeLessThanOrEqual(bodyMax)
      const headers = { 'content-type': 'application/json' }
      const answer = await project.fetch(path, { method: 'PUT', body, headers })
      await answer.arrayBuffer()
      return answer.status
    }),
  )
  const text = 'Words of the largest text. '.repeat(Math.floor(1_048_576 / 27))
  const item = await project.send('POST', '/v1/knowledge', { name: 'Largest', text })
  expect(item.status).toBe(201)
  isBusy = false
  expect(await others).toEqual(new Set([200]))
  expect(answers).toEqual([201, 201, 201])
  const page = await project.fetch('/v1/calls?limit=1000')
  expect(((await page.json()) as { data: unknown[] }).data).toHaveLength(4)
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
  await service.stop()
})

function turns(count: number, chars: number) {
  return Array.from({ length: count }, (_, n) => ({
    role: n % 2 ? 'assistant' : 'user',
    content: 'x'.repeat(chars),
  }))
}
