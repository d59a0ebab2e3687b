import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../../support/at-end.ts'
import { CommandLine, fileOf, linesOf, withService } from '../../support/command-line.ts'
import { repository } from '../../support/process.ts'
import { skipped } from '../../support/skipped.ts'
import { until } from '../../support/until.ts'

const sampleFile = join(repository, '../shared/data/calls.jsonl')
const callsMax = 300

describe('callbook calls', () => {
  test('calls that are imported, exported and imported elsewhere keep every field', async () => {
    const calls = sampleCalls()
    const callbook = new CommandLine()
    await callbook.project('A')
    await callbook.project('B')
    const imported = await callbook.json(['calls', 'import', fileOf(linesOf(calls)), '--project', 'A'])
    expect(imported).toMatchObject({
      code: 0,
      err: '',
      value: { imported: calls.length, updated: 0, failed: 0 },
    })

    const first = await callbook.spawned(['calls', 'export', '--project', 'A'])
    const exported = first.out
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text))
    expect(exported).toHaveLength(calls.length)
    expect(Object.keys(exported[0])).toHaveLength(13)
    const byId = new Map(exported.map((call) => [call.id, call]))
    for (const call of calls) expect(byId.get(call.id)).toMatchObject(call)
    const times = exported.map((call) => call.createdAt)
    expect(times).toEqual(times.toSorted())

    const again = await callbook.json(['calls', 'import', '-', '--project', 'B'], { stdin: first.out })
    expect(again.value).toMatchObject({ imported: calls.length, failed: 0 })
    expect((await callbook.run(['calls', 'export', '--project', 'B'])).out).toBe(first.out)
    expect((await callbook.json(['calls', 'export', '--project', 'B'])).value).toEqual(exported)
    const some = ['calls', 'export', '--project', 'B', '--query', 'order=-createdAt&limit=2&fields=createdAt']
    const newest = exported.toReversed().slice(0, 2)
    expect((await callbook.run([...some, '--csv'])).out).toBe(
      ['id,createdAt', ...newest.map(({ id, createdAt }) => `${id},${createdAt}`), ''].join('\r\n'),
    )
    expect((await callbook.json(some)).value).toEqual(newest.map(({ id, createdAt }) => ({ id, createdAt })))
    for (const query of ['status=gone', 'caller_number=1']) {
      const bad = await callbook.run(['calls', 'export', '--project', 'B', '--query', query])
      expect([bad.code, bad.out, bad.err.includes(query.split('=')[0] ?? '')]).toEqual([1, '', true])
    }
  })

  test('the same import twice changes nothing the second time', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const file = fileOf(linesOf(sampleCalls().map(({ createdAt, ...call }) => call)))
    await callbook.json(['calls', 'import', file, '--project', 'Acme'])
    const before = await callbook.run(['calls', 'export', '--project', 'Acme'])
    const { value } = await callbook.json(['calls', 'import', file, '--project', 'Acme'])
    expect(value).toMatchObject({ imported: 0, updated: callsMax, failed: 0 })
    expect((await callbook.run(['calls', 'export', '--project', 'Acme'])).out).toBe(before.out)
  })

  test('bad lines are reported by number and skipped, the others are imported, and the exit code is 1', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const good = (id: string) => Buffer.from(`{"id":"${id}","summary":"ok"}`)
    const lines = [
      good('a'),
      Buffer.from('{"id":"b",'),
      Buffer.alloc(0),
      Buffer.from('{"status":"live"}'),
      Buffer.from('{"id":"c","status":"dead","duration":-1}'),
      Buffer.from('{"id":"no spaces"}'),
      Buffer.concat([Buffer.from('{"id":"d","summary":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      Buffer.from('{"id":"e","summary":"\\u0000"}'),
      Buffer.from('[1]'),
      Buffer.from('{"id":"f","createdAt":"2026-02-30T00:00:00Z"}'),
      Buffer.from('  \t\r'),
      Buffer.concat([good('g'), Buffer.from('\r')]),
      good('h'),
    ]
    const file = fileOf(
      Buffer.concat(lines.flatMap((bytes, i) => (i > 0 ? [Buffer.from('\n'), bytes] : [bytes]))),
    )
    const { code, err, value } = await callbook.json(['calls', 'import', file, '--project', 'Acme'])
    expect(code).toBe(1)
    expect(value).toMatchObject({ imported: 3, updated: 0, failed: 8 })
    expect(value.errors).toEqual([
      { line: 2, id: null, message: 'must be valid JSON' },
      { line: 4, id: null, message: 'id: is required' },
      {
        line: 5,
        id: 'c',
        message: expect.stringMatching(/status: must be one of.*duration: must be at least 0/),
      },
      { line: 6, id: 'no spaces', message: expect.stringContaining('id: must be 1 to 128 characters') },
      { line: 7, id: null, message: 'summary: must be valid UTF-8' },
      { line: 8, id: null, message: 'summary: must not contain U+0000' },
      { line: 9, id: null, message: 'must be an object' },
      { line: 10, id: 'f', message: 'createdAt: must be a time that exists, from 1970 to 9999' },
    ])
    expect(err).toContain('Line 2: must be valid JSON\n')
    expect(err).toContain('Line 5 (c): ')
    const exported = await callbook.json(['calls', 'export', '--project', 'Acme'])
    expect(exported.value.map((call: { id: string }) => call.id).toSorted()).toEqual(['a', 'g', 'h'])
  })

  test('several lines of one call build on each other in their order, across batches too', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const turns = Array.from({ length: 1_203 }, (_, at) => ({
      id: 'long',
      appendTranscript: { at, turns: [{ role: 'user', content: `turn ${at}` }] },
    }))
    const { value } = await callbook.json(['calls', 'import', fileOf(linesOf(turns)), '--project', 'Acme'])
    expect(value).toMatchObject({ imported: 1, updated: turns.length - 1, failed: 0 })
    const [call] = (await callbook.json(['calls', 'export', '--project', 'Acme'])).value
    expect(call.transcript).toHaveLength(turns.length)
    expect(call.transcript.at(-1).content).toBe('turn 1202')
  })

  test('a line over the limit is skipped by its number, and the lines after it are imported', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const file = fileOf(linesOf([{ id: 'a' }, { id: 'b', summary: 'x'.repeat(5_000) }, { id: 'c' }]))
    const ran = await callbook.json(['calls', 'import', file, '--project', 'Acme'], {
      env: { BODY_MAX_BYTES: '2000' },
    })
    expect(ran.code).toBe(1)
    expect(ran.value).toMatchObject({ imported: 2, failed: 1, errors: [{ line: 2 }] })
  })

  test('texts over 64 KiB are cut with a mark, and their calls are imported', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const file = fileOf(linesOf([{ id: 'a', status: 'completed', summary: 'x'.repeat(70_000) }]))
    const ran = await callbook.json(['calls', 'import', file, '--project', 'Acme'])
    expect([ran.code, ran.value]).toMatchObject([0, { imported: 1, failed: 0 }])
    const { value } = await callbook.json(['calls', 'export', '--project', 'Acme'])
    expect(value).toMatchObject([
      { status: 'completed', summary: expect.stringMatching(/^x{65526} … \[cut\]$/) },
    ])
  })

  test('export and import keep what belongs to a call: details, metadata, and the time of the newest event', async () => {
    const callbook = new CommandLine()
    await callbook.project('A')
    await callbook.project('B')
    const call = {
      id: 'one',
      summary: 'newest',
      metadata: { crm: 'SFDC-42', list: ['"', 1.5, null] },
      occurredAt: '2026-06-02T00:00:00.007Z',
      details: {
        source: 'vapi',
        agent: { id: 'front-desk', name: null },
        timeline: [{ atSeconds: 1, kind: 'turn', turn: 0, name: null, text: 'a "b"' }],
        review: {
          evaluation: 'fail',
          note: null,
          labels: ['a', 'b'],
          by: 'Ada',
          at: '2026-06-02T00:00:00.000Z',
        },
        redacted: { phone: 1 },
      },
    }
    const sent = [call, { id: 'two', occurredAt: '1970-01-01T00:00:00.000Z' }, { id: 'three', metadata: {} }]
    const file = fileOf(linesOf(sent))
    await callbook.run(['calls', 'import', file, '--project', 'A'])
    const exported = await callbook.json(['calls', 'export', '--project', 'A'])
    const byId = new Map(exported.value.map((each: { id: string }) => [each.id, each]))
    for (const each of sent) expect(byId.get(each.id)).toMatchObject(each)

    const copy = fileOf((await callbook.run(['calls', 'export', '--project', 'A'])).out)
    await callbook.run(['calls', 'import', copy, '--project', 'B'])
    expect((await callbook.json(['calls', 'export', '--project', 'B'])).value).toEqual(exported.value)
    const late = { id: 'one', summary: 'OLD', occurredAt: '2026-06-01T00:00:00Z' }
    await callbook.run(['calls', 'import', fileOf(linesOf([late])), '--project', 'B'])
    const after = (await callbook.json(['calls', 'export', '--project', 'B'])).value
    expect(after.find(({ id }: { id: string }) => id === 'one').summary).toBe('newest')
  })

  test('a call over CALL_MAX_BYTES is skipped by its line, new or merged, and the others are imported', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const half = { content: 'x'.repeat(1_000), role: 'user' }
    const sent = [
      { id: 'a', transcript: [half] },
      { id: 'b', transcript: [half, half] },
      { id: 'a', appendTranscript: { at: 1, turns: [half] } },
      { id: 'a', duration: 5 },
    ]
    const ran = await callbook.json(['calls', 'import', fileOf(linesOf(sent)), '--project', 'Acme'], {
      env: { CALL_MAX_BYTES: '2000' },
    })
    const message = expect.stringContaining('at most 2000 bytes')
    expect(ran.code).toBe(1)
    expect(ran.value).toMatchObject({
      imported: 1,
      updated: 1,
      failed: 2,
      errors: [
        { line: 2, id: 'b', message },
        { line: 3, id: 'a', message },
      ],
    })
    const { value } = await callbook.json(['calls', 'export', '--project', 'Acme'])
    expect(value).toMatchObject([{ id: 'a', duration: 5, transcript: [half] }])
  })

  test('the largest call is imported, many changes of it too, and its export can be imported again', async () => {
    const callbook = new CommandLine()
    await callbook.project('A')
    await callbook.project('B')
    const call = { id: 'big', callAnalysis: { text: 'x'.repeat(8_388_000) } }
    const changes = Array.from({ length: 30 }, (_, n) => ({ id: 'big', duration: n + 1 }))
    const { value } = await callbook.json(['calls', 'import', '-', '--project', 'A'], {
      stdin: linesOf([call, ...changes]),
    })
    expect(value).toMatchObject({ imported: 1, updated: 30, failed: 0 })
    const exported = await callbook.run(['calls', 'export', '--project', 'A'])
    expect(JSON.parse(exported.out)).toMatchObject({ ...call, duration: 30 })
    const again = await callbook.json(['calls', 'import', '-', '--project', 'B'], { stdin: exported.out })
    expect(again.value).toMatchObject({ imported: 1, failed: 0 })
  })

  test('a deleted call stays deleted, and the running service serves the calls imported with it', async () => {
    await withService(async ({ mintProject }, callbook) => {
      const project = await mintProject()
      const calls = linesOf([{ id: 'a' }, { id: 'b' }])
      const first = await callbook.json(['calls', 'import', '-', '--project', project.id], { stdin: calls })
      expect(first.value).toMatchObject({ imported: 2, failed: 0 })
      expect((await project.fetch('/v1/calls/a')).status).toBe(200)
      expect((await project.fetch('/v1/calls/a', { method: 'DELETE' })).status).toBe(200)
      const again = await callbook.json(['calls', 'import', '-', '--project', project.id], { stdin: calls })
      expect(again).toMatchObject({ code: 1, value: { imported: 0, updated: 1, failed: 1 } })
      expect(again.value.errors).toEqual([
        { line: 1, id: 'a', message: expect.stringContaining('stays deleted') },
      ])
      expect((await project.fetch('/v1/calls/a')).status).toBe(404)
    })
  })

  test.each([
    ['a missing file', () => join(freshFolder(), 'none.jsonl'), /none\.jsonl: no such file/],
    ['a folder', freshFolder, /it is a folder/],
  ])('%s is one sentence', async (_, path, message) => {
    const callbook = new CommandLine()
    await callbook.project()
    const { code, out, err } = await callbook.run(['calls', 'import', path(), '--project', 'Acme', '--json'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(message)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('an export ends without an error when its output is no longer read', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    await callbook.run(['calls', 'import', fileOf(linesOf(sampleCalls())), '--project', 'Acme'])
    const child = callbook.spawn(['calls', 'export', '--project', 'Acme'])
    const reader = child.stdout.getReader()
    await reader.read()
    await reader.cancel()
    expect(await child.exited).toBe(0)
    expect(await new Response(child.stderr).text()).toBe('')
  })

  test('an interrupted import exits 1, keeps what is committed and can be repeated', async () => {
    const callbook = new CommandLine()
    await callbook.project()
    const calls = Array.from({ length: 600 }, (_, i) => ({ id: `call-${i}` }))
    const child = Bun.spawn(
      ['bun', 'scripts/callbook.ts', 'calls', 'import', '-', '--project', 'Acme', '--json'],
      {
        cwd: repository,
        env: { ...process.env, EMBEDDING_PROVIDER: 'builtin', DATA_DIR: callbook.dataDir },
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    // More is to come, so the command waits for it.
    child.stdin.write(linesOf(calls))
    await child.stdin.flush()
    await until(
      async () => (await callbook.json(['calls', 'export', '--project', 'Acme'])).value.length === 500,
    )
    child.kill('SIGINT')
    expect(await child.exited).toBe(1)
    expect(await new Response(child.stderr).text()).toContain('Interrupted.')
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ imported: 500 })
    const again = await callbook.json(['calls', 'import', '-', '--project', 'Acme'], {
      stdin: linesOf(calls),
    })
    expect(again.value).toMatchObject({ imported: 100, updated: 500, failed: 0 })
  })
})

/** The first calls of the shared data where it is there, else some of our own. */
function sampleCalls(): Record<string, unknown>[] {
  if (existsSync(sampleFile)) {
    const lines = readFileSync(sampleFile, 'utf8').split('\n', callsMax)
    return lines.map((line) => JSON.parse(line))
  }
  skipped(`there is no ${sampleFile}; calls made up by the test are used instead`)
  return Array.from({ length: callsMax }, (_, i) => ({
    id: `call-${i}`,
    status: i % 7 === 0 ? 'live' : 'completed',
    duration: i * 1.5,
    callAnalysis: { order: i, nested: { at: [1e20, 0.1, -1.5, i] } },
    transcript: [{ role: 'user', content: `Grüezi 👋 ${i}\n"quoted"\u2028` }],
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
  }))
}
