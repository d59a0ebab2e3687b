import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withService } from '../../support/command-line.ts'
import { repository } from '../../support/process.ts'
import { until } from '../../support/until.ts'

describe('callbook setup', () => {
  test('prints lines that work, waits for a call, and says what is missing in it', async () => {
    await withService(async ({ url }, callbook) => {
      const project = await callbook.project()
      const old = await callbook.json([
        'key',
        'create',
        '--project',
        project,
        '--name',
        'old',
        '--kind',
        'ingest',
      ])
      const put = (call: string, key: string, body: object) =>
        fetch(`${url}/ingest/calls/${call}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      expect((await put('before', old.value.key, {})).status).toBe(201)
      const child = callbook.spawn([
        'setup',
        '--project',
        project,
        '--with',
        'code',
        '--timeout',
        '60',
        '--json',
      ])
      let said = ''
      const reading = (async () => {
        for await (const part of child.stderr) said += new TextDecoder().decode(part)
      })()
      await until(() => said.includes('Waiting for a call'))
      const [, key = ''] = /INGEST_KEY=(\S+)/.exec(said) ?? []
      expect(said).toContain('export CALLBOOK=http://')
      const turns = [{ role: 'user', content: 'Hello' }]
      expect((await put('first', key, { status: 'completed', transcript: turns })).status).toBe(201)
      const answer = JSON.parse(await new Response(child.stdout).text())
      await reading
      expect(await child.exited).toBe(0)
      expect(answer).toMatchObject({ with: 'code', call: { id: 'first', status: 'completed', turns: 1 } })
      const calls = `http://127.0.0.1:3000/console/p/${project}/calls`
      expect(said).toContain(`Calls appear at ${calls}\n`)
      expect(answer.url).toBe(`${calls}/first`)
      const [caller, start, times, agent, ...others] = answer.missing
      expect([caller, start, times, agent]).toEqual([
        'the caller: callerNumber',
        'when it began: createdAt',
        'the times of turns and tools: details.timeline',
        'the agent: details.agent',
      ])
      expect(others).toEqual([])
    })
  })

  test('exits 1 when no call comes in time, and when it cannot ask what is run', async () => {
    await withService(async (_, callbook) => {
      const project = await callbook.project()
      const waited = await callbook.run([
        'setup',
        '--project',
        project,
        '--with',
        'livekit',
        '--timeout',
        '1',
      ])
      expect([waited.code, waited.out]).toEqual([1, ''])
      expect(waited.err).toContain('OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20ck_ingest_')
      expect(waited.err).toContain('No call has arrived within 1 s.')
      const vapi = await callbook.run(['setup', '--project', project, '--with', 'vapi', '--timeout', '1'])
      expect(vapi.err).toMatch(/Server URL +\S+\/ingest\/from\/src_/)
      await callbook.project('demo')
      const unsaid = await callbook.run(['setup', '--with', 'code'])
      expect([unsaid.code, unsaid.err]).toEqual([1, expect.stringContaining(', or --project demo')])
      const asked = await callbook.run(['setup', '--project', project])
      expect([asked.code, asked.err]).toEqual([1, expect.stringContaining('--with livekit')])
    })
  })
})

test('the skill names commands, pages and routes that exist', () => {
  const skill = readFileSync(join(repository, 'skills/callbook/SKILL.md'), 'utf8')
  expect(skill).toStartWith('---\nname: callbook\ndescription: ')
  for (const [, page] of skill.matchAll(/docs\/guide\/([a-z-]+)/g))
    expect(() => readFileSync(join(repository, `src/guide/${page}.md`))).not.toThrow()
})
