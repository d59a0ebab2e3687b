import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CallChange, CallDetailsUpdate, TimelineEntry, TurnLatency } from '../../src/calls/schemas.ts'
import { freshFolder } from '../support/at-end.ts'
import { repository } from '../support/process.ts'
import { startService } from '../support/service.ts'

// The programs of the page are run as they stand, against a real service.

const page = readFileSync(join(repository, 'src/guide/own-code.md'), 'utf8')
const service = await startService()
const linesMax = 37

const programs = { ts: ['ts', process.execPath], python: ['py', 'python3'] } as const

describe.each(Object.entries(programs))('the program in %s', (language, [extension, command]) => {
  const [, program = ''] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page) ?? []

  test('writes a call with its times, a tool and latencies, and what it leaves out is derived', async () => {
    const project = await service.mintProject()
    const file = join(freshFolder(), `call.${extension}`)
    writeFileSync(file, program)
    const env = { PATH: process.env.PATH, CALLBOOK: service.url, INGEST_KEY: project.ingestKey }
    const child = Bun.spawn([command, file], { env, stdout: 'pipe', stderr: 'pipe' })
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(['', 0])
    const { data } = await (await project.fetch('/v1/calls?details=include')).json()
    expect(data).toHaveLength(1)
    const [call] = data
    expect(call).toMatchObject({ status: 'completed', callerNumber: '+15557294053', isEngaged: true })
    expect(call.transcript).toHaveLength(2)
    expect(call.duration).toBeGreaterThan(0)
    expect(call.details).toMatchObject({ latencyMs: 900, costUsd: 0.04, metadata: { tenant: 'acme' } })
    const kinds = call.details.timeline.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(['turn', 'tool_call', 'tool_result', 'turn'])
  })

  test(`has at most ${linesMax} lines`, () => {
    expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(linesMax)
  })
})

test('every field of a call, its details, an entry and a latency is in the tables', () => {
  const schemas = [CallChange, CallDetailsUpdate, TimelineEntry, TurnLatency]
  const names = schemas.flatMap(({ properties }) => Object.keys(properties)).filter((name) => name !== 'id')
  const tables = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .join('\n')
  expect(names.filter((name) => !tables.includes(`\`${name}\``))).toEqual([])
})
