import { describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.mintProject()
const { key } = await project.makeKey({ scope: 'manage' })

async function ask(method: string, path: string, body?: unknown): Promise<Response> {
  return await fetch(`${service.url}/v1/sources${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function made(body: object) {
  const answer = await ask('POST', '', body)
  expect(answer.status).toBe(201)
  const source = await answer.json()
  expect(answer.headers.get('location')).toBe(`/v1/sources/${source.id}`)
  return source
}

describe('/v1/sources', () => {
  test('a source is made with a secret that is shown once, receives, is changed and deleted', async () => {
    const source = await made({ platform: 'vapi', options: { metadata: 'keep' } })
    const { secret, ...shown } = source
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(shown).toMatchObject({
      platform: 'vapi',
      name: 'Vapi',
      projectId: project.id,
      url: `${service.url}/ingest/from/${source.id}`,
      options: { metadata: 'keep' },
    })
    expect(await (await ask('GET', `/${source.id}`)).json()).toEqual(shown)
    expect(await (await ask('GET', '')).json()).toEqual({ data: [shown] })
    const event = await fetch(source.url, {
      method: 'POST',
      headers: { 'x-vapi-secret': secret, 'content-type': 'application/json' },
      body: '{"message":{"type":"hang"}}',
    })
    expect(event.status).toBe(200)
    const changed = { name: 'Phone', options: { metadata: null, apiKey: 'sk-1234' } }
    const after = await (await ask('PATCH', `/${source.id}`, changed)).json()
    expect(after).toMatchObject({ name: 'Phone', options: { apiKey: true } })
    expect(JSON.stringify(after)).not.toContain('sk-1234')
    const again = await (await ask('PATCH', `/${source.id}`, { options: { apiKey: null } })).json()
    expect(again).toMatchObject({ name: 'Phone', options: {} })
    expect(await (await ask('GET', `/${source.id}/failures`)).json()).toEqual({ data: [] })
    const rotated = await (await ask('POST', `/${source.id}/secret`, {})).json()
    expect(rotated).toEqual({ id: source.id, secret: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const own = { secret: 'a secret of my own'.replaceAll(' ', '-') }
    expect(await (await ask('POST', `/${source.id}/secret`, own)).json()).toEqual({ id: source.id })
    expect(await (await ask('DELETE', `/${source.id}`)).json()).toEqual({ id: source.id, deleted: true })
    expect((await ask('GET', `/${source.id}`)).status).toBe(404)
  })

  test.each([
    [{ platform: 'nobody' }, 'platform'],
    [{ platform: 'vapi', secret: 'short' }, 'secret'],
    [{ platform: 'vapi', options: { colour: 'red' } }, 'options.colour'],
    [{ platform: 'livekit' }, 'options.apiKey'],
    [{}, 'platform'],
  ])('%j is 400 and names the field', async (body, field) => {
    const { errors } = await expectProblem(await ask('POST', '', body), 'invalid_request')
    expect(errors?.map((error) => error.field)).toContain(field)
  })

  test('what is required is not cleared, and what is unknown is named', async () => {
    const source = await made({ platform: 'livekit', secret: 'x'.repeat(20), options: { apiKey: 'API1' } })
    expect(source.url).toBe(service.url)
    for (const options of [{ apiKey: null }, { colour: null }]) {
      const { errors } = await expectProblem(
        await ask('PATCH', `/${source.id}`, { options }),
        'invalid_request',
      )
      expect(errors?.map(({ field }) => field)).toEqual([`options.${Object.keys(options)[0]}`])
    }
  })

  test('the audit trail names the key', async () => {
    await made({ platform: 'dograh' })
    const { data } = await service.services.console.audit.list(project.projectId, { limit: 1 }, {})
    expect(JSON.stringify(data[0])).toContain('source_created')
    expect(JSON.stringify(data[0])).toContain('made')
  })
})
