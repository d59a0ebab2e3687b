import { describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const received: string[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    received.push(((await request.json()) as { type: string }).type)
    return new Response('')
  },
})
const service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' } })
const project = await service.mintProject()
const { key } = await project.makeKey({ scope: 'manage' })
const url = `http://127.0.0.1:${receiver.port}/hook`

const strict = { prefer: 'handling=strict' }

async function ask(method: string, path: string, body?: unknown, headers = {}): Promise<Response> {
  return await fetch(`${service.url}/v1/webhooks${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const write = (id: string) => project.send('PUT', `/ingest/calls/${id}`, { status: 'completed' })

describe('/v1/webhooks', () => {
  test('a webhook is made, sent to, changed, switched off and on, replayed, rotated and deleted', async () => {
    const answer = await ask('POST', '', { url, events: ['call.completed'] })
    expect(answer.status).toBe(201)
    const { id, secret, ...made } = await answer.json()
    expect(answer.headers.get('location')).toBe(`/v1/webhooks/${id}`)
    expect([secret.startsWith('whsec_'), made]).toEqual([true, { url, events: ['call.completed'] }])
    await write('a')
    await until(() => received.length === 1)
    const deliveries = async () => (await (await ask('GET', `/${id}/deliveries`)).json()).data
    await until(async () => (await deliveries()).length === 1)
    expect((await deliveries())[0]).toMatchObject({ event: 'call.completed', status: 200, attempt: 1 })

    const off = await (await ask('PATCH', `/${id}`, { enabled: false, details: true })).json()
    expect(off).toMatchObject({ id, enabled: false, details: true, disabledReason: 'It was switched off.' })
    await expectProblem(await ask('POST', `/${id}/replay`, { after: 0 }), 'invalid_request')
    await write('b')
    const on = await (
      await ask('PATCH', `/${id}`, { enabled: true, events: ['call.completed', 'call.deleted'] })
    ).json()
    expect(on).toMatchObject({ enabled: true, events: ['call.completed', 'call.deleted'], disabledAt: null })
    await until(() => received.length === 2)
    const replay = await ask('POST', `/${id}/replay`, { after: 0 })
    expect([replay.status, await replay.json()]).toEqual([202, { id, queued: 2 }])
    await until(() => received.length === 4)
    expect(received).toEqual(Array.from({ length: 4 }, () => 'call.completed'))

    const rotated = await (await ask('POST', `/${id}/secret`, {})).json()
    expect(rotated).toEqual({ id, secret: expect.stringMatching(/^whsec_/) })
    expect(rotated.secret).not.toBe(secret)
    const [listed] = (await (await ask('GET', '')).json()).data
    expect(await (await ask('GET', `/${id}`)).json()).toEqual(listed)
    expect(JSON.stringify(listed)).not.toContain('whsec_')
    expect(await (await ask('DELETE', `/${id}`)).json()).toEqual({ id, deleted: true })
    expect((await ask('GET', `/${id}`)).status).toBe(404)
  })

  test.each([
    ['POST', '', { url: 'http://10.0.0.1/' }, 'url'],
    ['POST', '', { url, events: ['call.rang'] }, 'events.0'],
    ['POST', '', {}, 'url'],
  ])('%s %s %j is 400 and names the field', async (method, path, body, field) => {
    const { errors } = await expectProblem(await ask(method, path, body), 'invalid_request')
    expect(errors?.map((error) => error.field)).toEqual([field])
  })

  test('a misspelt `event` is named, and with Prefer: handling=strict it is 400 and names `events`', async () => {
    const body = { url, event: ['call.completed'] }
    const answer = await ask('POST', '', body)
    expect([answer.status, answer.headers.get('callbook-ignored')]).toEqual([201, 'event'])
    await ask('DELETE', `/${(await answer.json()).id}`)
    const { errors } = await expectProblem(await ask('POST', '', body, strict), 'invalid_request')
    expect(errors).toEqual([{ field: 'event', message: 'is not known; the nearest name is events' }])
  })

  test('a change is checked as a new one is, and changes nothing if anything is wrong', async () => {
    const { id } = await (await ask('POST', '', { url })).json()
    const before = await (await ask('GET', `/${id}`)).json()
    for (const [body, field] of [
      [{ url: 'ftp://example.com', details: true }, 'url'],
      [{ events: [], enabled: false }, 'events'],
      [{ enabled: 'no' }, 'enabled'],
    ] as const) {
      const { errors } = await expectProblem(await ask('PATCH', `/${id}`, body), 'invalid_request')
      expect(errors?.map((error) => error.field)).toEqual([field])
    }
    expect(await (await ask('GET', `/${id}`)).json()).toEqual(before)
    await ask('DELETE', `/${id}`)
    receiver.stop(true)
  })
})
