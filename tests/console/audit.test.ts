import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { type AuditRow, type AuditRun, type AuditTrail, byService } from '../../src/audit/audit-trail.ts'
import { createRecordHash } from '../../src/db/record-hash.ts'
import { browserOf, cookieOf, startConsole, type TestPerson } from '../support/console.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const set = await startConsole(service)

async function trailOf(project: TestProject, by: TestPerson = set.owner): Promise<AuditRun[]> {
  return (await by.read(`/projects/${project.id}/audit?limit=200`)).data
}

/** What is new in a project's trail after some work, oldest first. */
async function noted(project: TestProject, work: () => Promise<unknown>) {
  const before = new Set((await trailOf(project)).map(({ id }) => id))
  await work()
  return (await trailOf(project)).filter(({ id }) => !before.has(id)).reverse()
}

async function recordHash() {
  const [secret] = await service.services.database.read.all<{ value: string }>(
    sql`select value from meta where name = 'id_hash_key'`,
  )
  return createRecordHash(secret?.value ?? '')
}

const nameOf = ({ name, email }: TestPerson) => `${name} (${email})`
const short = ({ action, actor, target }: AuditRow) => [action, actor, target]

describe('the audit trail', () => {
  test('records who did what, to what, when and from where', async () => {
    const project = await set.mintProject()
    const actor = nameOf(set.owner)
    const rows = await noted(project, () =>
      set.owner.send('POST', `/projects/${project.id}/invitations`, { role: 'member' }),
    )
    expect(rows).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        action: 'invitation_created',
        actorKind: 'person',
        actor,
        actorId: set.owner.personId,
        target: 'member',
        link: null,
        ipAddress: '127.0.0.1',
        entries: 1,
        since: rows[0]?.at ?? '',
      },
    ])
  })

  test('shows what a machine did to calls one after the other as one row, of any length, and each in the CSV', async () => {
    const project = await set.mintProject()
    const { audit } = service.services.console
    const note = (by: object, action: 'call_deleted' | 'call_analyzed', count: number) => {
      const targets = sql.join(
        Array.from({ length: count }, (_, n) => sql`select ${`${action} ${n}`} as value`),
        sql` union all `,
      )
      const event = { projectId: project.projectId, action, ...by }
      return service.services.database.write.run(audit.entries(event, sql`(${targets})`))
    }
    const rows = await noted(project, async () => {
      await note({ by: byService }, 'call_analyzed', 260)
      await note({ by: byService }, 'call_deleted', 2)
      await note({}, 'call_deleted', 2)
      await note({ by: byService }, 'call_analyzed', 1)
    })
    expect(rows.map(({ action, actorKind, entries }) => [action, actorKind, entries])).toEqual([
      ['call_analyzed', 'service', 260],
      ['call_deleted', 'service', 2],
      // Somebody typed each of these.
      ['call_deleted', 'commandLine', 1],
      ['call_deleted', 'commandLine', 1],
      ['call_analyzed', 'service', 1],
    ])
    const pages: unknown[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const answer: Response = await set.owner.fetch(`/projects/${project.id}/audit?limit=1&cursor=${cursor}`)
      const page: Awaited<ReturnType<AuditTrail['listRuns']>> = await answer.json()
      pages.push(...page.data.map(({ entries }) => entries))
      cursor = page.nextCursor
    }
    expect(pages.slice(0, 5)).toEqual([1, 1, 1, 2, 260])
    const csv = await (await set.owner.fetch(`/projects/${project.id}/audit/csv`)).text()
    expect(csv.split('\n').filter((line) => line.includes('call_analyzed'))).toHaveLength(261)
  })

  test('records keys that are created in the console or on the command line, and revoked', async () => {
    const project = await set.mintProject()
    const path = `/projects/${project.id}/keys`
    const input = { name: 'mine', kind: 'live' as const, allowedIps: [], expiresAt: null }
    const hints: string[] = []
    const rows = await noted(project, async () => {
      const { id, hint } = await (await set.owner.send('POST', path, input)).json()
      await set.owner.send('DELETE', `${path}/${id}`)
      await set.owner.send('DELETE', `${path}/${id}`)
      const other = await service.services.keys.create(project.projectId, {
        ...input,
        name: 'theirs',
        scope: 'search',
      })
      hints.push(hint, other.hint)
    })
    expect(rows.map(short)).toEqual([
      ['key_created', nameOf(set.owner), `mine (${hints[0]}, full)`],
      ['key_revoked', nameOf(set.owner), `mine (${hints[0]}, full)`],
      ['key_created', null, `theirs (${hints[1]}, search)`],
    ])
  })

  test('records people who are invited, join, change and are removed, and revoked invitations', async () => {
    const project = await set.mintProject()
    const actor = nameOf(set.owner)
    let person = set.owner
    const rows = await noted(project, async () => {
      person = await set.join(project, 'member')
      const path = `/projects/${project.id}/people/${person.personId}`
      await set.owner.send('PATCH', path, { role: 'owner' })
      await set.owner.send('PATCH', path, { role: 'owner' })
      await set.owner.send('DELETE', path)
      await set.owner.send('DELETE', path)
      const open = await set.owner.send('POST', `/projects/${project.id}/invitations`, { role: 'owner' })
      await set.owner.send('DELETE', `/projects/${project.id}/invitations/${(await open.json()).id}`)
    })
    expect(rows.map(short)).toEqual([
      ['invitation_created', actor, 'member'],
      ['invitation_accepted', nameOf(person), nameOf(person)],
      ['role_changed', actor, `${nameOf(person)} → owner`],
      ['person_removed', actor, nameOf(person)],
      ['invitation_created', actor, 'owner'],
      ['invitation_revoked', actor, null],
    ])
  })

  test('records deletions through /v1 by key, with only the keyed hash of the record', async () => {
    const project = await set.mintProject()
    await project.send('PUT', '/ingest/calls/call-to-go', { status: 'completed' })
    const item = await (await project.send('POST', '/v1/knowledge', { name: 'n', text: 'words' })).json()
    const rows = await noted(project, async () => {
      expect((await project.fetch('/v1/calls/call-to-go', { method: 'DELETE' })).status).toBe(200)
      expect((await project.fetch('/v1/calls/call-to-go', { method: 'DELETE' })).status).toBe(404)
      expect((await project.fetch(`/v1/knowledge/${item.id}`, { method: 'DELETE' })).status).toBe(200)
      expect((await project.fetch(`/v1/knowledge/${item.id}`, { method: 'DELETE' })).status).toBe(404)
    })
    const hash = await recordHash()
    const actor = `live (ck_live_…${project.key.slice(-4)})`
    expect(rows.map(short)).toEqual([
      ['call_deleted', actor, hash(project.projectId, 'call', 'call-to-go')],
      ['item_deleted', actor, hash(project.projectId, 'item', item.id)],
    ])
    expect(rows.map(({ ipAddress }) => ipAddress)).toEqual(['127.0.0.1', '127.0.0.1'])
    expect(JSON.stringify(rows)).not.toMatch(new RegExp(`call-to-go|${item.id}`))
  })

  test('records deletions in the console by person', async () => {
    const project = await set.mintProject()
    const person = await set.join(project, 'member')
    await project.send('PUT', '/ingest/calls/call-to-go', { status: 'completed' })
    const rows = await noted(project, async () => {
      const path = `/projects/${project.id}/calls/call-to-go`
      expect((await person.send('DELETE', path)).status).toBe(200)
      expect((await person.send('DELETE', path)).status).toBe(404)
    })
    const hash = (await recordHash())(project.projectId, 'call', 'call-to-go')
    expect(rows.map(short)).toEqual([['call_deleted', nameOf(person), hash]])
  })

  test("records projects that are created and renamed, and a deleted one in the person's other projects", async () => {
    const kept = await set.mintProject()
    const actor = nameOf(set.owner)
    const name = `soon gone ${kept.id}`
    const { id } = await (await set.owner.send('POST', '/projects', { name })).json()
    const made = { ...kept, ...(await service.services.projects.find(id)) }
    await set.owner.send('PATCH', `/projects/${id}`, { name: `${name} for good` })
    expect((await trailOf(made)).slice(0, 2).map(short)).toEqual([
      ['project_renamed', actor, `${name} for good`],
      ['project_created', actor, name],
    ])
    const rows = await noted(kept, () =>
      set.owner.send('DELETE', `/projects/${id}`, { confirm: `${name} for good` }),
    )
    const hash = (await recordHash())(made.projectId, 'project', id)
    expect(rows.map(short)).toEqual([['project_deleted', actor, hash]])
  })

  test('shows the owners of a project the sign-ins of its members only', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const person = await set.join(project, 'member')
    const stranger = await set.join(other, 'member')
    const rows = await noted(project, async () => {
      await set.nobody.send('POST', '/session', { email: person.email, password: 'not the password' })
      await set.nobody.send('POST', '/session', { email: stranger.email, password: 'not the password' })
      await set.nobody.send('POST', '/session', { email: 'nobody@example.com', password: 'not the password' })
      const again = browserOf(service, cookieOf(await set.nobody.send('POST', '/session', person)))
      const newPassword = 'something else entirely'
      const changed = await again.send('POST', '/password', { currentPassword: person.password, newPassword })
      const browser = browserOf(service, cookieOf(changed))
      await service.services.console.invitations.createPasswordLink(person.email, 'http://x')
      await browser.send('DELETE', '/session')
    })
    const actor = nameOf(person)
    expect(rows.map(short).sort()).toEqual([
      ['password_changed', actor, null],
      ['password_link_created', null, actor],
      ['sign_in_failed', null, actor],
      ['signed_in', actor, null],
      ['signed_out', actor, null],
    ])
    const failed = rows.filter(({ action }) => action === 'sign_in_failed')
    expect(failed).toMatchObject([
      { actorKind: 'stranger', actorId: person.personId, ipAddress: '127.0.0.1' },
    ])
    const asStranger = await set.owner.fetch(`/projects/${project.id}/audit?who=stranger`)
    expect((await asStranger.json()).data).toEqual(failed)
  })

  test('tells a person, a key, the command line and the service apart', async () => {
    const project = await set.mintProject()
    await project.send('PUT', '/ingest/calls/by-key', { status: 'completed' })
    await project.send('PUT', '/ingest/calls/by-service', { status: 'completed' })
    const rows = await noted(project, async () => {
      await project.fetch('/v1/calls/by-key', { method: 'DELETE' })
      await project.makeKey({ name: 'by command' })
      await service.services.erasureRequests.request(project.projectId, { ids: ['by-service'] })
      await service.services.erasureRequests.finish()
      await set.owner.send('POST', `/projects/${project.id}/invitations`, { role: 'member' })
    })
    const kinds = rows.map(({ action, actorKind }) => [action, actorKind])
    expect(kinds).toEqual(
      expect.arrayContaining([
        ['call_deleted', 'key'],
        ['key_created', 'commandLine'],
        ['erasure_requested', 'commandLine'],
        ['erasure_done', 'service'],
        ['invitation_created', 'person'],
      ]),
    )
    for (const [action, kind] of kinds) {
      const answer = await set.owner.fetch(`/projects/${project.id}/audit?who=${kind}&action=${action}`)
      const { data } = await answer.json()
      expect(data.map((row: AuditRow) => row.actorKind)).toContain(kind)
    }
  })

  test('says where a target is while it exists, and only its hash afterwards', async () => {
    const project = await set.mintProject()
    await project.send('PUT', '/ingest/calls/held', { status: 'completed' })
    const holds = `/projects/${project.id}/holds`
    const rows = await noted(project, async () => {
      const hold = await (await set.owner.send('POST', holds, { callId: 'held', reason: 'Order 7' })).json()
      await set.owner.send('POST', holds, { number: '+4930123456', reason: 'Order 8' })
      await set.owner.send('PATCH', `/projects/${project.id}/calls/held/review`, { reviewed: true })
      await set.owner.send('DELETE', `${holds}/${hold.id}`)
    })
    const links = (all: AuditRow[]) => all.map(({ action, link }) => [action, link?.kind, link?.id])
    const onNumber = rows[1]?.target ?? undefined
    expect(links(rows)).toEqual([
      ['hold_set', 'call', 'held'],
      ['hold_set', 'hold', onNumber],
      ['call_reviewed', 'call', 'held'],
      ['hold_lifted', 'call', 'held'],
    ])
    const hash = (await recordHash())(project.projectId, 'call', 'held')
    expect(rows[0]?.target).toStartWith(`${hash}: hold_`)
    expect(
      await trailOf(project).then((all) => all.filter(({ target }) => target?.startsWith(hash))),
    ).toHaveLength(3)
    expect((await project.fetch('/v1/calls/held', { method: 'DELETE' })).status).toBe(200)
    const after = (await trailOf(project)).filter(({ target }) => target?.startsWith(hash))
    expect(links(after).map(([, kind]) => kind)).toEqual([undefined, undefined, undefined, undefined])
    expect(JSON.stringify(after)).not.toContain('held')
  })

  test('records changes of knowledge by who made them, with the name of the item while it exists', async () => {
    const project = await set.mintProject()
    const text = { name: 'Refunds', text: 'Within 30 days.' }
    const rows = await noted(project, async () => {
      await project.send('PUT', '/v1/knowledge/refunds', text)
      await project.send('PUT', '/v1/knowledge/refunds', text)
      await project.send('PUT', '/v1/knowledge/refunds', { ...text, text: 'Within 60 days.' })
      await set.owner.send('POST', `/projects/${project.id}/knowledge`, { name: 'Hours', text: 'From nine.' })
    })
    const link = { kind: 'item', id: 'refunds', name: 'Refunds' } as const
    expect(rows.map(({ action, actorKind, link }) => ({ action, actorKind, link }))).toEqual([
      { action: 'item_created', actorKind: 'key', link },
      { action: 'item_changed', actorKind: 'key', link },
      { action: 'item_created', actorKind: 'person', link: expect.objectContaining({ name: 'Hours' }) },
    ])
    expect((await project.fetch('/v1/knowledge/refunds', { method: 'DELETE' })).status).toBe(200)
    const hash = (await recordHash())(project.projectId, 'item', 'refunds')
    const after = (await trailOf(project)).filter(({ target }) => target === hash)
    expect(after.map(({ action, link }) => [action, link])).toEqual([
      ['item_deleted', null],
      ['item_changed', null],
      ['item_created', null],
    ])
  })

  test('never takes another record under the same row number for the target', async () => {
    const project = await set.mintProject()
    await project.send('PUT', '/ingest/calls/another', { status: 'completed' })
    const target = (await recordHash())(project.projectId, 'call', 'restored before')
    const targetRef = sql`(select seq from calls where id = 'another' and project_id = ${project.projectId})`
    const { audit } = service.services.console
    const rows = await noted(project, () =>
      audit.record({ projectId: project.projectId, action: 'call_opened', target, targetRef }),
    )
    expect(rows).toMatchObject([{ target, link: null }])
  })

  test('shows nothing of other projects, and begins with the newest', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    await set.join(other, 'member')
    const rows = await trailOf(project)
    expect(rows.map(({ at }) => at)).toEqual(
      rows
        .map(({ at }) => at)
        .sort()
        .reverse(),
    )
    expect(rows.filter(({ action }) => action === 'project_created').map(({ target }) => target)).toEqual([
      project.name,
    ])
    expect(rows.filter(({ action }) => action.startsWith('invitation'))).toEqual([])
  })

  test('counts within the project, and a sign-in within its person, whatever else the service does', async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const person = await set.join(project, 'member')
    const { audit } = service.services.console
    const record = (projectId: number, target: string) =>
      audit.record({ projectId, action: 'call_deleted', target })
    const signedIn = async (id: string) => {
      const by = { actor: { id, name: null }, address: null }
      await audit.record({ by, projectId: null, action: 'signed_in', target: null })
    }
    for (let n = 0; n < 3; n++) {
      await record(project.projectId, `mine ${n}`)
      await Promise.all(Array.from({ length: 5 }, (_, at) => record(other.projectId, `theirs ${at}`)))
      await signedIn(set.owner.personId)
    }
    const { write } = service.services.database
    const several = { projectId: project.projectId, action: 'call_opened' } as const
    await write.run(audit.entries(several, sql`(select 'a' as value union all select 'b')`))
    await signedIn(person.personId)
    const ids = (await trailOf(project)).map(({ id }) => id).reverse()
    const own = ids.filter((id) => !id.includes('@'))
    expect(own).toEqual(own.map((_, at) => `${at + 1}`))
    const ofPerson = ids.filter((id) => id.endsWith(`@${person.personId}`))
    expect(ofPerson).toEqual(ofPerson.map((_, at) => `${at + 1}@${person.personId}`))
    expect(ofPerson.length).toBeGreaterThan(0)
    const { seq } = (
      await service.services.database.read.all<{ seq: number }>(sql`select max(seq) as seq from audit_events`)
    )[0] ?? { seq: 0 }
    expect(seq).toBeGreaterThan(ids.length)
  })

  test("begins nowhere with an entry of another project, or of a person of none of one's projects", async () => {
    const [project, other] = [await set.mintProject(), await set.mintProject()]
    const stranger = await set.join(other, 'member')
    const by = { actor: { id: stranger.personId, name: null }, address: null }
    await service.services.console.audit.record({ by, projectId: null, action: 'signed_in', target: null })
    const theirs = (await trailOf(other)).find(({ id }) => id.endsWith(`@${stranger.personId}`))
    const pageAt = async (cursor: string) => {
      const answer = await set.owner.fetch(`/projects/${project.id}/audit?cursor=${cursor}`)
      return (await answer.json()).data
    }
    expect(await pageAt(theirs?.id ?? '')).toEqual([])
    expect(await pageAt('999999')).toEqual([])
  })

  test('is read in pages without gaps or repetitions while it grows', async () => {
    const project = await set.mintProject()
    const { audit } = service.services.console
    for (let i = 0; i < 25; i++)
      await audit.record({ projectId: project.projectId, action: 'call_deleted', target: `hash ${i}` })
    const all = await trailOf(project)
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const answer: Response = await set.owner.fetch(`/projects/${project.id}/audit?limit=7&cursor=${cursor}`)
      const page: Awaited<ReturnType<AuditTrail['list']>> = await answer.json()
      expect(page.data.length).toBeLessThanOrEqual(7)
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor
      await audit.record({ projectId: project.projectId, action: 'call_deleted', target: 'later' })
    }
    expect(seen).toEqual(all.map(({ id }) => id))
  })

  test.each(['limit=x', 'limit=-1', 'cursor=x', 'cursor=1.5', 'cursor=1@', 'cursor=1@%27', 'limit=1e3'])(
    '%s is 400',
    async (query) => {
      const project = await set.mintProject()
      const answer = await set.owner.fetch(`/projects/${project.id}/audit?${query}`)
      await expectProblem(answer, 'invalid_request')
    },
  )

  test('that cannot be written undoes nothing, and the log says why', async () => {
    const person = await set.join(await set.mintProject(), 'member')
    const { write } = service.services.database
    await write.run(sql`alter table audit_events rename to lost`)
    const answer = await set.nobody.send('POST', '/session', person)
    await write.run(sql`alter table lost rename to audit_events`)
    expect(answer.status).toBe(200)
    expect(service.logs.map(({ msg }) => msg)).toContain('An event was not recorded in the audit trail')
  })
})
