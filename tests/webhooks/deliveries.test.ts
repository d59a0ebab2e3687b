import { beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { AuditRow } from '../../src/audit/audit-trail.ts'
import type { WebhookAttempt, WebhookMessage } from '../../src/webhooks/deliveries.ts'
import { startConsole } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { accept, receiverEnv, startReceiver, verify } from '../support/receiver.ts'
import { startService, type TestProject } from '../support/service.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'
import { until } from '../support/until.ts'

let aheadMs = 0

const receiver = await startReceiver()
const service = await startService({ env: receiverEnv, now: () => Date.now() + aheadMs })
const set = await startConsole(service)
beforeEach(() => {
  receiver.answer = accept
  aheadMs = 0
})

const refuse = (text: string) => {
  receiver.answer = (_, response) => void response.writeHead(422).end(text)
}

async function make(project: TestProject) {
  const url = `${receiver.url}/${project.projectId}`
  const { id, secret } = await service.services.webhooks.create(project.projectId, { url })
  const path = `/projects/${project.id}/webhooks/${id}`
  const received = () => receiver.received.filter((event) => event.path === new URL(url).pathname)
  const json = async <Body>(rest: string): Promise<Body> => (await set.owner.fetch(`${path}/${rest}`)).json()
  const attempts = async (query = '') => (await json<{ data: WebhookAttempt[] }>(`attempts${query}`)).data
  const message = (messageId: string) => json<WebhookMessage>(`messages/${messageId}`)
  const resend = (messageId: string) => set.owner.send('POST', `${path}/messages/${messageId}/resend`, {})
  /** The newest message, once it was tried so often. */
  const tried = async (count: number) => {
    await until(async () => (await attempts()).length >= count)
    return await message((await attempts())[0]?.messageId ?? '')
  }
  return { id, path, secret, received, attempts, message, resend, tried }
}

const put = (project: TestProject, id: string, change: object = { status: 'completed' }) =>
  project.send('PUT', `/ingest/calls/${id}`, change)

const tracesIn = (word: string) => findTraces(service.dataDir, tracesOfWord(word))

describe('the answer to a failed attempt', () => {
  test('is kept up to 2 KiB, whatever it is; that of a success is not', async () => {
    const project = await set.mintProject()
    const { attempts, tried } = await make(project)
    await put(project, 'fine')
    expect((await tried(1)).attempts).toMatchObject([{ status: 204, answer: null }])
    refuse(`No “\0”: ${'x'.repeat(5_000)}`)
    await put(project, 'refused')
    const { attempts: refused } = await tried(2)
    const [{ answer = '' } = {}] = refused
    expect(answer).toStartWith('No “\uFFFD”: xxx')
    expect(Buffer.byteLength(answer ?? '')).toBeLessThanOrEqual(2_048 + 8)
    expect((await attempts()).length).toBe(2)
    expect((await attempts('?failed=true')).map(({ status }) => status)).toEqual([422])
    expect(JSON.stringify(await attempts())).not.toContain('xxx')
  })

  test('is erased with its call, and with the text that an item had', async () => {
    const project = await set.mintProject()
    const { tried } = await make(project)
    const words = [newWord(), newWord(), newWord()]
    const [ofCall = '', ofOther = '', ofItem = ''] = words
    refuse(`cannot take ${ofCall}`)
    await put(project, 'gone')
    const { attempts } = await tried(1)
    expect(attempts[0]?.answer).toContain(ofCall)
    refuse(`cannot take ${ofOther}`)
    await put(project, 'stays')
    await tried(2)
    refuse(`cannot take ${ofItem}`)
    const item = { name: 'n', text: 'The text before.' }
    const { id } = await (await project.send('POST', '/v1/knowledge', item)).json()
    const before = await tried(3)
    expect(before.attempts[0]?.answer).toContain(ofItem)
    receiver.answer = accept
    for (const word of words) expect(await tracesIn(word)).not.toEqual([])

    await project.fetch('/v1/calls/gone', { method: 'DELETE' })
    await project.send('PUT', `/v1/knowledge/${id}`, { ...item, text: 'Another text.' })
    await service.services.erasure.finish()
    expect(await tracesIn(ofCall)).toEqual([])
    expect(await tracesIn(ofItem)).toEqual([])
    expect(await tracesIn(ofOther)).not.toEqual([])
  })

  test('is erased with the alert of a number that is erased', async () => {
    const project = await set.mintProject()
    const webhook = await make(project)
    const [word, number] = [newWord(), '+15557294053']
    const filters = { callerNumber: [number] }
    const rule = { name: 'n', filters, windowMinutes: 5, above: { alert: 0 }, to: [{ webhook: webhook.id }] }
    const { id } = await (await project.send('POST', '/v1/alerts', rule)).json()
    await service.services.database.write.run(sql`
      insert into webhook_attempts (webhook_id, message_id, kind, record, event, seq, attempt, at, status, duration_ms,
        bytes, answer)
      select ${webhook.id}, 'msg', 'alert', seq, 'alert.changed', 1, 1, ${Date.now()}, 422, 1, 1, ${word}
      from alerts where id = ${id}`)
    expect((await webhook.message('msg')).attempts[0]?.answer).toBe(word)
    await project.send('POST', '/v1/erasures', { number })
    await service.services.erasureRequests.finish()
    await service.services.erasure.finish()
    expect(await tracesIn(word)).toEqual([])
  })

  test('is not kept when its call was deleted before it came', async () => {
    const project = await set.mintProject()
    const { tried } = await make(project)
    const word = newWord()
    const waiting: (() => void)[] = []
    receiver.answer = (event, response) => {
      if (event.type !== 'call.completed') return accept(event, response)
      waiting.push(() => void response.writeHead(500).end(`cannot take ${word}`))
    }
    await put(project, 'soon-gone')
    await until(() => waiting.length === 1)
    await project.fetch('/v1/calls/soon-gone', { method: 'DELETE' })
    waiting[0]?.()
    await tried(1)
    expect(await tracesIn(word)).toEqual([])
  })

  test('is erased after a week', async () => {
    const project = await set.mintProject()
    const { tried, message, attempts } = await make(project)
    const word = newWord()
    refuse(`cannot take ${word}`)
    await put(project, 'a')
    await tried(1)
    receiver.answer = accept
    await service.services.webhooks.expireAnswers()
    expect(await tracesIn(word)).not.toEqual([])
    aheadMs += 7 * 86_400_000
    await service.services.webhooks.expireAnswers()
    await service.services.erasure.finish()
    expect(await tracesIn(word)).toEqual([])
    const failed = (await attempts('?failed=true'))[0]
    expect(failed?.status).toBe(422)
    expect((await message(failed?.messageId ?? '')).attempts.at(-1)).toMatchObject({
      status: 422,
      answer: null,
    })
  })

  test('is kept for the newest 200 failures of an endpoint', async () => {
    const project = await set.mintProject()
    const { id, tried } = await make(project)
    refuse('no')
    await put(project, 'a')
    await tried(1)
    const { write, read } = service.services.database
    await write.run(sql`
      insert into webhook_attempts (webhook_id, message_id, kind, record, event, seq, attempt, at, status, duration_ms,
        bytes, answer)
      select webhook_id, 'm' || value, kind, record, event, seq, attempt, at, status, duration_ms, bytes, answer
      from webhook_attempts, generate_series(1, 250) where webhook_id = ${id}`)
    await put(project, 'b')
    const count = async (what: string) => {
      const [row] = await read.all<{ n: number }>(sql`
        select count(${sql.raw(what)}) as n from webhook_attempts where webhook_id = ${id}`)
      return row?.n ?? 0
    }
    await until(async () => (await count('id')) >= 252)
    expect(await count('answer')).toBe(200)
  })
})

describe('a message', () => {
  test('shows what would be sent now, and is sent again at once while it waits for its next try', async () => {
    const project = await set.mintProject()
    const { id, secret, received, resend, message, tried } = await make(project)
    refuse('not yet')
    await put(project, 'a', { status: 'completed', summary: 'before' })
    const first = await tried(1)
    const messageId = first.attempts[0]?.messageId ?? ''
    expect(first.nextAt).not.toBeNull()
    await put(project, 'a', { summary: 'after' })
    const now = await message(messageId)
    expect(now.callId).toBe('a')
    expect(JSON.parse(now.body?.text ?? '')).toMatchObject({
      type: 'call.completed',
      data: { id: 'a', call: { summary: 'after' } },
    })
    receiver.answer = accept
    expect((await resend(messageId)).status).toBe(200)
    await until(() => received().length >= 2)
    const again = received()[1]
    expect(again?.headers['webhook-id']).toBe(messageId)
    expect(again?.data.call).toMatchObject({ summary: 'after' })
    if (again) verify(secret, again)
    await until(async () => (await message(messageId)).nextAt === null)
    const rows: AuditRow[] = (await (await set.owner.fetch(`/projects/${project.id}/audit`)).json()).data
    expect(rows.find(({ action }) => action === 'webhook_resent')).toMatchObject({
      actorId: set.owner.personId,
      link: { kind: 'webhook', id },
    })
  })

  test('of one erasure is sent again whatever waits of another', async () => {
    const project = await set.mintProject()
    const { id, received, resend, message } = await make(project)
    const { write } = service.services.database
    const { projectId } = project
    const now = Date.now()
    for (const era of [`era_a${projectId}`, `era_b${projectId}`]) {
      await write.run(sql`
        insert into erasure_requests (id, project_id, calls, on_hold, deleted, is_done) values (${era}, ${projectId}, 1, 0, 1, 1)`)
      await write.run(sql`
        insert into erasures (project_id, kind, id_hash, change_seq, requested_at, done_at)
        values (${projectId}, 'calls', ${era}, 1, ${now}, ${now})`)
    }
    const messageId = `msg_${projectId}`
    await write.run(sql`
      insert into webhook_attempts (webhook_id, message_id, kind, ref, event, seq, attempt, at, status, duration_ms, bytes)
      values (${id}, ${messageId}, 'erasure', ${`era_a${projectId}`}, 'erasure.done', 1, 1, ${now}, 200, 1, 1)`)
    await write.run(sql`
      insert into webhook_queue (webhook_id, kind, erased_calls, ref, event, seq, at, attempts, due_at)
      values (${id}, 'erasure', 1, ${`era_b${projectId}`}, 'erasure.done', 1, ${now}, 1, ${now + 3_600_000})`)
    expect((await message(messageId)).nextAt).toBeNull()
    expect((await resend(messageId)).status).toBe(200)
    await until(() => received().length > 0)
    expect(received().map(({ data }) => data.ref)).toEqual([`era_a${projectId}`])
  })

  test('that was accepted is sent again as a new one; of a deleted call, only that it was deleted', async () => {
    const project = await set.mintProject()
    const { received, resend, message, tried } = await make(project)
    await put(project, 'a')
    const messageId = (await tried(1)).attempts[0]?.messageId ?? ''
    await resend(messageId)
    await until(() => received().length === 2)
    expect(received()[1]?.headers['webhook-id']).not.toBe(messageId)
    expect(received()[1]).toMatchObject({ type: 'call.completed', data: { id: 'a' } })
    await project.fetch('/v1/calls/a', { method: 'DELETE' })
    await until(() => received().length === 3)
    const gone = await message(messageId)
    expect(gone.callId).toBeNull()
    expect(JSON.parse(gone.body?.text ?? '')).toMatchObject({ type: 'call.deleted' })
    expect(gone.body?.text).not.toContain('"a"')
    await resend(messageId)
    await until(() => received().length === 4)
    expect(received()[3]).toMatchObject({ type: 'call.deleted' })
  })

  test('of another webhook, of another project or for a member is not there', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const mine = await make(project)
    const theirs = await make(other)
    await put(other, 'a')
    const messageId = (await theirs.tried(1)).attempts[0]?.messageId ?? ''
    await expectProblem(await mine.resend(messageId), 'not_found')
    await expectProblem(await set.owner.fetch(`${mine.path}/messages/${messageId}`), 'not_found')
    const stolen = theirs.path.replace(other.id, project.id)
    const foreign = await set.owner.fetch(`${stolen}/messages/${messageId}`)
    await expectProblem(foreign, 'not_found', 'Webhook not found')
    const member = await set.join(other, 'member')
    for (const rest of ['attempts', `messages/${messageId}`])
      expect((await member.fetch(`${theirs.path}/${rest}`)).status).toBe(403)
    for (const rest of [`messages/${messageId}/resend`, 'test'])
      expect((await member.send('POST', `${theirs.path}/${rest}`, { event: 'call.started' })).status).toBe(
        403,
      )
    expect(theirs.received()).toHaveLength(1)
  })

  test('that is a test says so, is signed, and is never tried again', async () => {
    const project = await set.mintProject()
    const { path, secret, received, message, attempts, resend } = await make(project)
    refuse('I know no call-1042')
    const answer = await set.owner.send('POST', `${path}/test`, { event: 'call.completed' })
    const { messageId } = await answer.json()
    const [event] = received()
    expect(event).toMatchObject({ type: 'call.completed', test: true, data: { id: 'call-1042' } })
    if (event) verify(secret, event)
    const [attempt] = await attempts()
    expect(attempt).toMatchObject({ messageId, isTest: true, status: 422 })
    expect(await message(messageId)).toMatchObject({
      attempts: [{ answer: 'I know no call-1042' }],
      nextAt: null,
      body: null,
    })
    await expectProblem(await resend(messageId), 'invalid_request')
    const wrong = await set.owner.send('POST', `${path}/test`, { event: 'call.exploded' })
    await expectProblem(wrong, 'invalid_request')
    const [{ failures = -1 } = {}] = await service.services.webhooks.list(project.projectId)
    expect(failures).toBe(0)
  })
})
