import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startNode } from '../support/node.ts'
import { startPrimary } from '../support/primary.ts'
import { until } from '../support/until.ts'

// A primary that is putting its log away takes writes and gives nothing to replicas for a moment.

let refusesSyncs = false
let syncsRefused = 0

const primary = await startPrimary()
const between = createServer((received, answer) => {
  if (refusesSyncs && received.url?.endsWith('BatchLogEntries')) {
    syncsRefused++
    const refusal = { 'grpc-status': '14', 'grpc-message': 'snapshot%20not%20found' }
    answer.writeHead(200, { 'content-type': 'application/grpc-web+proto', ...refusal }).end()
    return
  }
  const { method, headers, url } = received
  const onward = request(`${primary.url}${url}`, { method, headers }, (response) => {
    answer.writeHead(response.statusCode ?? 500, response.headers)
    response.pipe(answer)
  })
  onward.on('error', () => answer.destroy())
  received.pipe(onward)
})
await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
const { port } = between.address() as AddressInfo
const node = await startNode({ ...primary, url: `http://127.0.0.1:${port}` })
const project = await node.mintProject()
afterAll(async () => {
  between.close()
})

describe('a node whose primary accepts writes and refuses syncs', () => {
  const put = (id: string) => project.send('PUT', `/ingest/calls/${id}`, { summary: 'Meanwhile' })

  test('acknowledges a write once it can read it', async () => {
    refusesSyncs = true
    const before = syncsRefused
    const answered = put('one')
    await until(() => syncsRefused >= before + 3)
    refusesSyncs = false
    expect((await answered).status).toBe(201)
    expect((await project.fetch('/v1/calls/one')).status).toBe(200)
  })

  test('says that a write may still be stored, which happens', async () => {
    refusesSyncs = true
    const answer = await put('two')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await answer.json()).toMatchObject({ code: 'unavailable' })
    expect((await project.fetch('/v1/calls/two')).status).toBe(404)
    refusesSyncs = false
    await until(async () => (await project.fetch('/v1/calls/two')).status === 200)
  })

  test('can be closed while a sync is refused', async () => {
    refusesSyncs = true
    const before = syncsRefused
    const answered = put('three').catch(() => null)
    await until(() => syncsRefused > before)
    await node.stop()
    await answered
  })
})
