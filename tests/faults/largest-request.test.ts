import { expect, test } from 'bun:test'
import { startService } from '../support/service.ts'

test('while the largest allowed requests are processed, every other is answered correctly', async () => {
  const service = await startService()
  const project = await service.mintProject()
  await project.send('PUT', '/ingest/calls/small', { summary: 'small' })
  const { bodyBytesMax: bodyMax, callBytesMax } = service.services.config
  const texts = (bytes: number, members = 249_000) => {
    const text = 'x'.repeat(Math.floor((bytes - 1_000) / members) - 3)
    return `{"n":[${`"${text}",`.repeat(members - 1)}1]}`
  }
  const large = [
    { id: 'texts', body: `{"callAnalysis":${texts(callBytesMax)}}`, status: 201 },
    { id: 'turns', body: JSON.stringify({ transcript: turns(10_000, 780) }), status: 201 },
    { id: 'unknown', body: `{"unknown":${texts(bodyMax)}}`, status: 201 },
    { id: 'members', body: `{"unknown":[${'1,'.repeat(bodyMax / 2 - 20)}1]}`, status: 413 },
    { id: 'deep', body: `{"unknown":${'['.repeat(100)}${']'.repeat(100)}}`, status: 201 },
    { id: 'too-large', body: `{"callAnalysis":${texts(bodyMax)}}`, status: 413 },
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
    large.map(async ({ id, body, status }) => {
      expect(body.length).toBeLessThanOrEqual(bodyMax)
      const headers = { 'content-type': 'application/json' }
      for (;;) {
        const answer = await project.fetch(`/ingest/calls/${id}`, { method: 'PUT', body, headers })
        await answer.arrayBuffer()
        // All of them at once are more than one project may have in memory.
        if (answer.status !== 503) return [id, answer.status, status]
        await Bun.sleep(100)
      }
    }),
  )
  const text = 'Words of the largest text. '.repeat(Math.floor(1_048_576 / 27))
  expect((await project.send('POST', '/v1/knowledge', { name: 'Largest', text })).status).toBe(201)
  isBusy = false
  expect(await others).toEqual(new Set([200]))
  for (const [id, status, expected] of answers) expect([id, status]).toEqual([id, expected])
  const page = await project.fetch('/v1/calls?limit=1000')
  expect(((await page.json()) as { data: unknown[] }).data).toHaveLength(5)
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
  await service.stop()
})

function turns(count: number, chars: number) {
  return Array.from({ length: count }, (_, n) => ({
    role: n % 2 ? 'assistant' : 'user',
    content: 'x'.repeat(chars),
  }))
}
