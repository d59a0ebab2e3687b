import { describe, expect, test } from 'bun:test'
import { startConsole } from '../../support/console.ts'
import { startService } from '../../support/service.ts'

const service = await startService()
const { owner, mintProject } = await startConsole(service)
const project = await mintProject()
const put = async (id: string, metadata: object | null) => {
  const answer = await project.send('PUT', `/ingest/calls/${id}`, { status: 'completed', metadata })
  expect(answer.ok).toBe(true)
}
const read = async (path: string) => await (await project.fetch(path)).json()
const idsOf = async (query: string) =>
  (await read(`/v1/calls?${query}`)).data.map(({ id }: { id: string }) => id).sort()

await put('acme', { tenant: 'acme', tier: 2, 'is vip': true })
await put('text', { tenant: 'globex', tier: '2', 'is vip': 'true' })
await put('deep', { nested: { tenant: 'acme' }, list: ['acme'], tier: 20 })
await put('without', null)
// Neither with an object nor with a long text does a key count among the 32.
const ignored = { 'a first': { x: 1 }, 'a second': 'x'.repeat(101) }
await put('many', {
  ...ignored,
  ...Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`key ${n + 10}`, n])),
})

describe('metadata.KEY', () => {
  test.each([
    ['metadata.tenant=acme', ['acme']],
    ['metadata.tenant=acme,globex', ['acme', 'text']],
    ['metadata.tier=2', ['acme', 'text']],
    ['metadata.tier=2.0', ['acme']],
    ['metadata.is%20vip=true', ['acme', 'text']],
    ['metadata.tenant=acme&metadata.tier=2', ['acme']],
    ['metadata.tenant=nobody', []],
    ['metadata.key%2041=31', ['many']],
    ['metadata.key%2042=32', []],
    [`metadata.a%20second=${'x'.repeat(101)}`, []],
  ])('%s finds %j', async (query, ids) => {
    expect(await idsOf(query)).toEqual(ids)
  })

  test('a value that changes is found as it is now, and a cleared key is not', async () => {
    await put('changing', { plan: 'free' })
    await put('changing', { plan: 'paid' })
    expect([await idsOf('metadata.plan=free'), await idsOf('metadata.plan=paid')]).toEqual([[], ['changing']])
    await put('changing', { plan: null })
    expect(await idsOf('metadata.plan=paid')).toEqual([])
  })

  test('is a group of figures, a facet, a filter of alerts and exports, and a column of CSV', async () => {
    const { data } = await read('/v1/metrics?of=calls&by=metadata.tier')
    expect(data).toEqual([
      { key: '2', value: 2, calls: 2 },
      { key: '20', value: 1, calls: 1 },
    ])
    const both = await read('/v1/metrics?of=calls&by=metadata.tenant,metadata.tier')
    expect(both.data.map(({ keys }: { keys: string[] }) => keys)).toEqual([
      ['acme', '2'],
      ['globex', '2'],
    ])
    const facet = await owner.fetch(`/projects/${project.id}/call-facets/metadata.tenant?metadata.tier=2`)
    expect([facet.status, await facet.json()]).toEqual([200, { counts: { acme: 1, globex: 1 } }])
    const listed = await owner.fetch(`/projects/${project.id}/calls?metadata.tenant=acme`)
    expect((await listed.json()).data.map(({ id }: { id: string }) => id)).toEqual(['acme'])
    const filters = { 'metadata.tenant': 'acme' }
    const rule = {
      name: 'quiet',
      filters,
      of: 'calls',
      windowMinutes: 60,
      below: { alert: 1 },
      to: [],
      showOnly: true,
    }
    expect((await project.send('POST', '/v1/alerts', rule)).status).toBe(201)
    const fields = 'fields=id,details.metadata.tenant,details.metadata.is%20vip'
    const accept = { accept: 'text/csv' }
    const csv = await project.fetch(`/v1/calls?metadata.tier=2&order=createdAt&${fields}`, {
      headers: accept,
    })
    expect(await csv.text()).toBe(
      'id,details.metadata.tenant,details.metadata.is vip\r\nacme,acme,true\r\ntext,globex,true\r\n',
    )
  })

  test('of a misspelt prefix, or without a value is 400', async () => {
    for (const query of ['metdata.tenant=acme', 'metadata.tenant='])
      expect([query, (await project.fetch(`/v1/calls?${query}`)).status]).toEqual([query, 400])
  })

  test('is redacted before it is found, and erased with the call', async () => {
    const minted = await mintProject()
    await service.services.settings.change(minted.projectId, { redact: ['email'] })
    const body = { metadata: { contact: 'ada@example.com', tenant: 'acme' } }
    expect((await minted.send('PUT', '/ingest/calls/private', body)).status).toBe(201)
    const total = async (query: string) =>
      (await (await minted.fetch(`/v1/calls?${query}`)).json()).pagination.total
    expect(await total('metadata.contact=ada@example.com')).toBe(0)
    expect(await total('metadata.contact=[email]')).toBe(1)
    expect((await minted.fetch('/v1/calls/private', { method: 'DELETE' })).status).toBe(200)
    expect(await total('metadata.tenant=acme')).toBe(0)
    const figures = await (await minted.fetch('/v1/metrics?of=calls&by=metadata.tenant')).json()
    expect(figures.data).toEqual([])
  })
})
