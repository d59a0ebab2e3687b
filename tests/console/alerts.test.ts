import { expect, test } from 'bun:test'
import { startConsole } from '../support/console.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const console = await startConsole(service)

test('members make alerts, viewers see them, and the audit trail says who changed one', async () => {
  const project = await console.mintProject()
  const [member, viewer] = [await console.join(project, 'member'), await console.join(project, 'viewer')]
  const path = `/projects/${project.id}/alerts`
  const rule = { name: 'Quiet', windowMinutes: 60, below: { alert: 1 }, showOnly: true }
  expect((await viewer.send('POST', path, rule)).status).toBe(403)
  const { id } = await (await member.send('POST', path, rule)).json()
  expect((await member.send('PUT', `${path}/${id}`, { ...rule, name: 'Silent' })).status).toBe(200)
  expect((await member.send('POST', `${path}/${id}/pause`, { paused: true })).status).toBe(200)
  expect((await member.send('POST', `${path}/${id}/test`, {})).status).toBe(200)
  for (const [method, sub, body] of [
    ['PUT', `/${id}`, rule],
    ['POST', `/${id}/pause`, { paused: false }],
    ['POST', `/${id}/test`, {}],
    ['DELETE', `/${id}`, undefined],
  ] as const)
    expect([method, (await viewer.send(method, path + sub, body)).status]).toEqual([method, 403])
  for (const sub of ['', `/${id}`, '/changes', `/changes?alert=${id}`])
    expect([sub, (await viewer.fetch(path + sub)).status]).toEqual([sub, 200])
  const preview = await (await viewer.send('POST', `${path}/preview`, rule)).json()
  expect(preview.fired).toHaveLength(1)
  expect((await console.nobody.fetch(path)).status).toBe(401)
  expect(await viewer.read(`${path}/${id}`)).toMatchObject({ name: 'Silent', paused: true })
  expect((await member.send('DELETE', `${path}/${id}`)).status).toBe(200)
  const { data } = await console.owner.read(`/projects/${project.id}/audit`)
  const entries: { action: string; actorId: string; target: string }[] = data
  const ofAlerts = entries.filter(({ action }) => action.startsWith('alert_'))
  expect(ofAlerts.map(({ action, actorId }) => [action, actorId])).toEqual(
    ['deleted', 'tested', 'changed', 'changed', 'created'].map((verb) => [`alert_${verb}`, member.personId]),
  )
  // A name may hold a number, which an erasure could not find here.
  expect(ofAlerts[0]?.target).toBe(id)
})

test('a destination that one rule has can be named by another, without anyone seeing its address', async () => {
  const project = await console.mintProject()
  const member = await console.join(project, 'member')
  const path = `/projects/${project.id}/alerts`
  const hook = { url: 'https://93.184.216.34/hooks/secret-hook', events: ['alert.changed'] }
  await console.owner.send('POST', `/projects/${project.id}/webhooks`, hook)
  const rule = { name: 'Quiet', windowMinutes: 60, below: { alert: 1 } }
  const to = [{ slack: 'https://93.184.216.34/services/T0/B0/Wz4q' }]
  expect((await member.send('POST', path, { ...rule, to })).status).toBe(200)
  const { data: offered } = await member.read(`${path}/destinations`)
  expect(offered).toEqual([
    { id: expect.any(String), kind: 'webhook', name: '93.184.216.34 …hook' },
    { id: expect.any(String), kind: 'slack', name: '…Wz4q' },
  ])
  const all = offered.map(({ id }: { id: string }) => ({ webhook: id }))
  const second = await (await member.send('POST', path, { ...rule, to: all })).json()
  expect(second.to).toEqual([all[0], { slack: '…Wz4q' }])
  const elsewhere = await console.mintProject()
  const stolen = await console.owner.send('POST', `/projects/${elsewhere.id}/alerts`, { ...rule, to: all })
  expect(stolen.status).toBe(400)
})
