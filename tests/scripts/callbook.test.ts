import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { asCommand } from '../support/command.ts'
import { startConsole, type TestConsole, type TestPerson } from '../support/console.ts'
import { startFakeEmbeddings } from '../support/fake-embeddings.ts'
import { repository } from '../support/process.ts'
import { freshFolder } from '../support/script.ts'
import { startService, type TestService } from '../support/service.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'
import { until } from '../support/until.ts'

const sampleFile = join(repository, '../shared/data/calls.jsonl')
const callsMax = 300
// Commands are processes of their own: on a busy machine each takes a second.
setDefaultTimeout(120_000)
const folders: { remove(): void }[] = []
afterAll(() => {
  for (const folder of folders) folder.remove()
})

interface Ran {
  code: number
  out: string
  err: string
}

interface RunOptions {
  stdin?: string
  env?: Record<string, string>
}

/** The real command line, in a folder of its own unless it is given one. */
class Line {
  readonly dataDir: string

  constructor(dataDir = newFolder()) {
    this.dataDir = dataDir
  }

  spawn(args: string[], { stdin = '', env = {} }: RunOptions = {}) {
    return Bun.spawn(['bun', 'scripts/callbook.ts', ...args], {
      cwd: repository,
      env: { ...process.env, EMBEDDING_PROVIDER: 'builtin', ...env, DATA_DIR: this.dataDir },
      stdin: new Blob([stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  async run(args: string[], options?: RunOptions): Promise<Ran> {
    const child = this.spawn(args, options)
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  }

  /** With --json: stdout must be one JSON value on one line and nothing else. */
  async json(args: string[], options?: RunOptions) {
    const ran = await this.run([...args, '--json'], options)
    if (!ran.out.endsWith('\n')) throw new Error(`No answer to ${args.join(' ')}: ${ran.err}`)
    return { ...ran, value: JSON.parse(ran.out) }
  }

  /** Sets up a project, without the cost of a command. */
  async project(name = 'Acme'): Promise<string> {
    const { id } = await asCommand(this.dataDir, ({ projects }) => projects.create(name))
    return id
  }
}

function newFolder(): string {
  const made = freshFolder()
  folders.push(made)
  return made.folder
}

function fileOf(content: string | Uint8Array, name = 'calls.jsonl'): string {
  const file = join(newFolder(), name)
  writeFileSync(file, content)
  return file
}

function linesOf(calls: unknown[]): string {
  return calls.map((call) => `${JSON.stringify(call)}\n`).join('')
}

/** The first calls of the shared data where it is there, else some of our own. */
function sampleCalls(): Record<string, unknown>[] {
  if (existsSync(sampleFile)) {
    const lines = readFileSync(sampleFile, 'utf8').split('\n', callsMax)
    return lines.map((line) => JSON.parse(line))
  }
  console.info(`${sampleFile} is not there: calls made up by the test are used instead`)
  return Array.from({ length: callsMax }, (_, i) => ({
    id: `call-${i}`,
    status: i % 7 === 0 ? 'live' : 'completed',
    duration: i * 1.5,
    callAnalysis: { order: i, nested: { at: [1e20, 0.1, -1.5, i] } },
    transcript: [{ role: 'user', content: `Grüezi 👋 ${i}\n"quoted"\u2028` }],
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 60_000).toISOString(),
  }))
}

async function withService(use: (service: TestService, line: Line) => Promise<void>, dataDir = newFolder()) {
  const service = await startService({ dataDir, env: { EMBEDDING_PROVIDER: 'builtin' } })
  try {
    await use(service, new Line(dataDir))
  } finally {
    await service.stop()
  }
}

describe('every command', () => {
  const commands = [
    ['project', 'create'],
    ['project', 'list'],
    ['project', 'rename'],
    ['project', 'remove'],
    ['person', 'list'],
    ['person', 'invite'],
    ['person', 'reset'],
    ['person', 'setup'],
    ['person', 'remove'],
    ['key', 'create'],
    ['key', 'list'],
    ['key', 'revoke'],
    ['calls', 'import'],
    ['calls', 'export'],
    ['knowledge', 'import'],
    ['index', 'verify'],
    ['index', 'rebuild'],
    ['backup'],
    ['restore'],
    ['doctor'],
  ]

  test.each(commands)('%s %s explains itself with --help and knows --json', async (...words) => {
    const line = new Line()
    const { code, out, err } = await line.run([...words.filter(Boolean), '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`Usage: callbook ${words.filter(Boolean).join(' ')}`)
    expect(out).toContain('--json')
    expect(readdirSync(line.dataDir)).toEqual([])
  })

  test.each([
    [[]],
    [['nonsense']],
    [['project']],
    [['project', 'create']],
    [['project', 'create', 'a', 'b']],
    [['project', 'list', '--nonsense']],
    [['project', 'rename', 'p']],
    [['project', 'remove', 'p']],
    [['person', 'remove', 'ada@example.com']],
    [['key', 'create', '--name', 'x']],
    [['key', 'create', '--project', 'p', '--name', 'x', '--kind', 'other', '--json']],
    [['calls', 'import', '--project', 'p', '--json']],
    [['knowledge', 'import', '--project', 'p']],
    [['calls', 'export']],
  ])('%p is a usage error: exit 1, a message on stderr, nothing on stdout', async (args) => {
    const line = new Line()
    const { code, out, err } = await line.run(args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).not.toBe('')
    expect(readdirSync(line.dataDir)).toEqual([])
  })

  test('a bad configuration is told whole, with exit 1', async () => {
    const { code, out, err } = await new Line().run(['project', 'list', '--json'], {
      env: { PORT: 'x', INDEX_WAIT_MS: '-1' },
    })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('PORT')
    expect(err).toContain('INDEX_WAIT_MS')
  })

  test('an unknown project is one sentence and exit 1', async () => {
    const { code, out, err } = await new Line().run(['calls', 'export', '--project', 'nobody'])
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: 'There is no project with the id or name nobody.\n',
    })
  })

  test('what it makes is readable by nobody else', async () => {
    const line = new Line()
    await line.run(['project', 'create', 'Acme'])
    expect(statSync(join(line.dataDir, 'callbook.db')).mode & 0o077).toBe(0)
    expect(statSync(join(line.dataDir, 'indexes')).mode & 0o077).toBe(0)
  })
})

describe('project', () => {
  test('a project is created once, and listed', async () => {
    const line = new Line()
    expect((await line.json(['project', 'list'])).value).toEqual([])
    const created = await line.json(['project', 'create', 'Acme Müller'])
    expect(created).toMatchObject({ code: 0, err: '', value: { name: 'Acme Müller' } })
    expect(Object.keys(created.value)).toEqual(['id', 'name'])
    expect((await line.json(['project', 'list'])).value).toEqual([created.value])
    const again = await line.run(['project', 'create', 'Acme Müller', '--json'])
    expect(again).toEqual({ code: 1, out: '', err: 'name: is taken by another project\n' })
    expect((await line.run(['project', 'list'])).out).toContain('Acme Müller')
  })

  test('a blank name is refused', async () => {
    const line = new Line()
    expect(await line.run(['project', 'create', ' '])).toMatchObject({
      code: 1,
      err: 'name: must not be blank\n',
    })
    const id = await line.project()
    expect(await line.run(['project', 'rename', id, ' '])).toMatchObject({
      code: 1,
      err: 'name: must not be blank\n',
    })
  })

  test('a project is renamed, and found by its new name alone', async () => {
    const line = new Line()
    const id = await line.project('Acme')
    expect(await line.json(['project', 'rename', 'Acme', 'Acme GmbH'])).toMatchObject({
      code: 0,
      err: '',
      value: { id, name: 'Acme GmbH' },
    })
    expect((await line.json(['project', 'list'])).value).toEqual([{ id, name: 'Acme GmbH' }])
    expect((await line.run(['project', 'rename', 'Acme', 'x'])).err).toContain('no project')
  })

  test('a project is removed for good: its key opens nothing, its name is free, no byte of it is left', async () => {
    const line = new Line()
    const id = await line.project('Acme')
    const words = [newWord(), newWord()]
    const calls = fileOf(linesOf([{ id: 'c', summary: words[0] }]))
    await line.run(['calls', 'import', calls, '--project', id])
    await line.run(['knowledge', 'import', fileOf(`# ${words[1]}`, 'a.md'), '--project', id])
    const { value: key } = await line.json(['key', 'create', '--project', id, '--name', 'k'])
    expect(await line.json(['project', 'remove', 'Acme', '--yes'])).toMatchObject({
      code: 0,
      err: '',
      value: { id, deleted: true },
    })
    expect(await findTraces(line.dataDir, words.flatMap(tracesOfWord))).toEqual([])
    expect((await line.json(['project', 'list'])).value).toEqual([])
    expect((await line.run(['project', 'remove', id, '--yes'])).code).toBe(1)
    expect((await line.run(['key', 'revoke', key.id])).code).toBe(1)
    expect(await line.project('Acme')).not.toBe(id)
  })

  test("control characters of a name do not reach people's terminals", async () => {
    const line = new Line()
    const refused = await line.run(['project', 'create', 'a\u001b[2Jb'])
    const unknown = await line.run(['key', 'list', '--project', 'a\u001b[2Jb'])
    expect([refused.code, unknown.code]).toEqual([1, 1])
    expect(refused.err).toContain('must not contain U+001B')
    expect(unknown.err).toContain('a\\u001b[2Jb')
    expect(refused.err + unknown.err).not.toContain('\u001b')
  })
})

describe('person', () => {
  let service: TestService
  let set: TestConsole
  let line: Line

  beforeAll(async () => {
    service = await startService()
    set = await startConsole(service)
    line = new Line(service.dataDir)
  })
  afterAll(() => service.stop())

  test('a new project belongs to nobody, or to whom --owner names', async () => {
    const free = await line.json(['project', 'create', 'of nobody'])
    const other = await set.join(await set.mintProject(), 'member')
    const theirs = await line.json(['project', 'create', 'of another', '--owner', other.email.toUpperCase()])
    const projectsOf = async (person: TestPerson) =>
      (await (await person.fetch('/session')).json()).projects.map(({ id }: { id: string }) => id)
    for (const { value } of [free, theirs]) expect(await projectsOf(set.owner)).not.toContain(value.id)
    expect(await projectsOf(other)).toContain(theirs.value.id)
    expect(await line.run(['project', 'create', 'of whom', '--owner', 'nobody@example.com'])).toEqual({
      code: 1,
      out: '',
      err: 'Nobody has the e-mail address nobody@example.com.\n',
    })
  })

  test('everybody is listed with their projects', async () => {
    const project = await set.mintProject()
    const { personId, name, email } = await set.join(project, 'member')
    const { value } = await line.json(['person', 'list'])
    expect(value.find(({ id }: { id: string }) => id === personId)).toEqual({
      id: personId,
      name,
      email,
      ownsConsole: false,
      projects: [{ id: project.id, name: project.name, role: 'member' }],
    })
    const { out } = await line.run(['person', 'list'])
    expect(out).toContain(`${project.name} (member)`)
    expect(out.split('\n').filter((row) => / {2}owner {2}/.test(row))).toEqual([
      expect.stringContaining(set.owner.email),
    ])
  })

  test('a name that several projects have is no name for a command, whose sentence says their ids', async () => {
    const other = await set.join(await set.mintProject(), 'member')
    const made = [
      await line.json(['project', 'create', 'ambiguous']),
      await line.json(['project', 'create', 'ambiguous', '--owner', other.email]),
    ]
    const ids = made.map(({ value }) => value.id)
    expect(await line.run(['key', 'list', '--project', 'ambiguous', '--json'])).toEqual({
      code: 1,
      out: '',
      err: `Several projects are called ambiguous. Name the one you mean by its id: ${ids.join(', ')}.\n`,
    })
    expect((await line.run(['key', 'list', '--project', ids[1]])).code).toBe(0)
  })

  test('a person is removed for good, but not the last owner of a project', async () => {
    const person = await set.join(await set.mintProject(), 'owner')
    expect(await line.json(['person', 'remove', person.email, '--yes'])).toMatchObject({
      code: 0,
      err: '',
      value: { id: person.personId, deleted: true },
    })
    expect((await person.fetch('/sessions')).status).toBe(401)
    expect((await line.run(['person', 'remove', person.email, '--yes'])).code).toBe(1)
    const last = await line.run(['person', 'remove', set.owner.email, '--yes'])
    expect([last.code, last.err]).toEqual([1, expect.stringContaining('last owner')])
    expect((await set.owner.fetch('/sessions')).status).toBe(200)
  })

  test('a set-up link is made for a console that nobody owns, and for no other', async () => {
    expect(await line.run(['person', 'setup'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('has an owner'),
    })
    const { value } = await new Line().json(['person', 'setup'])
    expect(value.link).toMatch(/^http:\/\/127\.0\.0\.1:3000\/console\/setup#[\w-]{32}$/)
  })

  test('an invitation and a password link open what they say, at PUBLIC_URL', async () => {
    const project = await set.mintProject()
    const env = { PUBLIC_URL: 'https://callbook.example/base' }
    const invited = await line.json(['person', 'invite', '--project', project.name, '--role', 'owner'], {
      env,
    })
    expect(invited.value).toMatchObject({ role: 'owner', id: expect.stringMatching(/^inv_/) })
    expect(invited.value.link).toMatch(/^https:\/\/callbook\.example\/base\/console\/join#[\w-]{32}$/)
    const reset = await line.json(['person', 'reset', set.owner.email], { env })
    expect(reset.value.link).toMatch(/^https:\/\/callbook\.example\/base\/console\/reset#[\w-]{32}$/)
    const check = async (link: string) =>
      (await set.nobody.send('POST', '/links/check', { token: new URL(link).hash.slice(1) })).json()
    expect(await check(invited.value.link)).toEqual({
      kind: 'invitation',
      projectName: project.name,
      role: 'owner',
      invitedBy: null,
    })
    expect(await check(reset.value.link)).toEqual({ kind: 'password', email: set.owner.email })
  })
})

describe('key', () => {
  test('a key is shown once, with its rules; a list never holds it', async () => {
    const line = new Line()
    const id = await line.project()
    const args = ['key', 'create', '--project', 'Acme', '--name', 'CI', '--kind', 'ingest']
    const rules = ['--allow-ip', '10.0.0.0/8', '--allow-ip', '::1', '--expires', '2999-01-31T10:00:00+01:00']
    const { value, code } = await line.json([...args, ...rules])
    expect(code).toBe(0)
    expect(Object.keys(value)).toEqual(['id', 'key', 'name', 'kind', 'allowedIps', 'expiresAt'])
    expect(value.key).toMatch(/^ck_ingest_[0-9a-f]{60}$/)
    expect(value).toMatchObject({
      name: 'CI',
      kind: 'ingest',
      allowedIps: ['10.0.0.0/8', '::1'],
      expiresAt: '2999-01-31T09:00:00.000Z',
    })
    const plain = await line.json(['key', 'create', '--project', id, '--name', 'x'])
    expect(plain.value).toMatchObject({ kind: 'live', allowedIps: [], expiresAt: null })
    const list = await line.json(['key', 'list', '--project', id])
    expect(list.value.map((key: { id: string }) => key.id)).toEqual([plain.value.id, value.id])
    expect(list.out).not.toContain(value.key)
    expect((await line.run(['key', 'list', '--project', id])).out).not.toContain(value.key)
  })

  test.each([
    [['--allow-ip', '10.0.0.1', '--allow-ip', '300.1.1.1'], '--allow-ip 300.1.1.1: is not an IPv4'],
    [['--allow-ip', '10.0.0.0/33'], '--allow-ip 10.0.0.0/33: has a prefix length'],
    [['--expires', 'tomorrow'], '--expires tomorrow: must be an ISO 8601 time'],
    [['--expires', '2999-02-30'], '--expires 2999-02-30: must be an ISO 8601 time'],
    [['--expires', '2999-01-01T10:00:00'], 'must be an ISO 8601 time with its zone'],
    [['--expires', '2020-01-01'], '--expires: must be a time in the future'],
  ])('%p is refused by name', async (args, message) => {
    const line = new Line()
    await line.project()
    const { code, out, err } = await line.run(['key', 'create', '--project', 'Acme', '--name', 'x', ...args])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(message)
    expect((await line.json(['key', 'list', '--project', 'Acme'])).value).toEqual([])
  })

  test('a key made beside the running service opens it, and is 401 from the request after its revocation', async () => {
    await withService(async ({ url }, line) => {
      await line.project()
      const { value } = await line.json(['key', 'create', '--project', 'Acme', '--name', 'x'])
      const read = () => fetch(`${url}/v1/calls`, { headers: { authorization: `Bearer ${value.key}` } })
      expect((await read()).status).toBe(200)
      const revoked = await line.json(['key', 'revoke', value.id])
      expect(revoked).toMatchObject({ code: 0, value: { id: value.id, revoked: true } })
      expect((await read()).status).toBe(401)
      expect((await line.run(['key', 'revoke', value.id])).code).toBe(1)
      expect((await line.run(['key', 'revoke', 'key_0'])).err).toBe('There is no key with the id key_0.\n')
    })
  })
})

describe('calls', () => {
  test('imported, exported, imported elsewhere: every field of every call is the same', async () => {
    const calls = sampleCalls()
    const line = new Line()
    await line.project('A')
    await line.project('B')
    const imported = await line.json(['calls', 'import', fileOf(linesOf(calls)), '--project', 'A'])
    expect(imported).toMatchObject({
      code: 0,
      err: '',
      value: { imported: calls.length, updated: 0, failed: 0 },
    })

    const first = await line.run(['calls', 'export', '--project', 'A'])
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

    const again = await line.json(['calls', 'import', '-', '--project', 'B'], { stdin: first.out })
    expect(again.value).toMatchObject({ imported: calls.length, failed: 0 })
    expect((await line.run(['calls', 'export', '--project', 'B'])).out).toBe(first.out)
    expect((await line.json(['calls', 'export', '--project', 'B'])).value).toEqual(exported)
  })

  test('the same import twice changes nothing the second time', async () => {
    const line = new Line()
    await line.project()
    const file = fileOf(linesOf(sampleCalls().map(({ createdAt, ...call }) => call)))
    await line.json(['calls', 'import', file, '--project', 'Acme'])
    const before = await line.run(['calls', 'export', '--project', 'Acme'])
    const { value } = await line.json(['calls', 'import', file, '--project', 'Acme'])
    expect(value).toMatchObject({ imported: 0, updated: callsMax, failed: 0 })
    expect((await line.run(['calls', 'export', '--project', 'Acme'])).out).toBe(before.out)
  })

  test('bad lines are told by their numbers and skipped, the others are imported, and the exit code is 1', async () => {
    const line = new Line()
    await line.project()
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
    const { code, err, value } = await line.json(['calls', 'import', file, '--project', 'Acme'])
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
      { line: 8, id: null, message: 'summary: must not hold U+0000' },
      { line: 9, id: null, message: 'must be an object' },
      { line: 10, id: 'f', message: 'createdAt: must be a time that exists, from 1970 to 9999' },
    ])
    expect(err).toContain('Line 2: must be valid JSON\n')
    expect(err).toContain('Line 5 (c): ')
    const exported = await line.json(['calls', 'export', '--project', 'Acme'])
    expect(exported.value.map((call: { id: string }) => call.id).toSorted()).toEqual(['a', 'g', 'h'])
  })

  test('several lines of one call build on each other in their order, across batches too', async () => {
    const line = new Line()
    await line.project()
    const turns = Array.from({ length: 1_203 }, (_, at) => ({
      id: 'long',
      appendTranscript: { at, turns: [{ role: 'user', content: `turn ${at}` }] },
    }))
    const { value } = await line.json(['calls', 'import', fileOf(linesOf(turns)), '--project', 'Acme'])
    expect(value).toMatchObject({ imported: 1, updated: turns.length - 1, failed: 0 })
    const [call] = (await line.json(['calls', 'export', '--project', 'Acme'])).value
    expect(call.transcript).toHaveLength(turns.length)
    expect(call.transcript.at(-1).content).toBe('turn 1202')
  })

  test('a line over the limit is skipped by its number, and the lines after it are imported', async () => {
    const line = new Line()
    await line.project()
    const file = fileOf(linesOf([{ id: 'a' }, { id: 'b', summary: 'x'.repeat(5_000) }, { id: 'c' }]))
    const ran = await line.json(['calls', 'import', file, '--project', 'Acme'], {
      env: { BODY_MAX_BYTES: '2000' },
    })
    expect(ran.code).toBe(1)
    expect(ran.value).toMatchObject({ imported: 2, failed: 1, errors: [{ line: 2 }] })
  })

  test('what is not served is exported and imported, too: metadata, and the time of the newest event', async () => {
    const line = new Line()
    await line.project('A')
    await line.project('B')
    const call = {
      id: 'one',
      summary: 'newest',
      metadata: { crm: 'SFDC-42', list: ['"', 1.5, null] },
      occurredAt: '2026-06-02T00:00:00.007Z',
    }
    const sent = [call, { id: 'two', occurredAt: '1970-01-01T00:00:00.000Z' }, { id: 'three', metadata: {} }]
    const file = fileOf(linesOf(sent))
    await line.run(['calls', 'import', file, '--project', 'A'])
    const exported = await line.json(['calls', 'export', '--project', 'A'])
    const byId = new Map(exported.value.map((each: { id: string }) => [each.id, each]))
    for (const each of sent) expect(byId.get(each.id)).toMatchObject(each)

    const copy = fileOf((await line.run(['calls', 'export', '--project', 'A'])).out)
    await line.run(['calls', 'import', copy, '--project', 'B'])
    expect((await line.json(['calls', 'export', '--project', 'B'])).value).toEqual(exported.value)
    const late = { id: 'one', summary: 'OLD', occurredAt: '2026-06-01T00:00:00Z' }
    await line.run(['calls', 'import', fileOf(linesOf([late])), '--project', 'B'])
    const after = (await line.json(['calls', 'export', '--project', 'B'])).value
    expect(after.find(({ id }: { id: string }) => id === 'one').summary).toBe('newest')
  })

  test('a call over CALL_MAX_BYTES is skipped by its line, new or merged, and the others are imported', async () => {
    const line = new Line()
    await line.project()
    const half = { content: 'x'.repeat(1_000), role: 'user' }
    const sent = [
      { id: 'a', transcript: [half] },
      { id: 'b', transcript: [half, half] },
      { id: 'a', appendTranscript: { at: 1, turns: [half] } },
      { id: 'a', duration: 5 },
    ]
    const ran = await line.json(['calls', 'import', fileOf(linesOf(sent)), '--project', 'Acme'], {
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
    const { value } = await line.json(['calls', 'export', '--project', 'Acme'])
    expect(value).toMatchObject([{ id: 'a', duration: 5, transcript: [half] }])
  })

  test('the largest call is imported, many changes of it too, and what is exported can be imported again', async () => {
    const line = new Line()
    await line.project('A')
    await line.project('B')
    const call = { id: 'big', summary: 'x'.repeat(8_388_000) }
    const changes = Array.from({ length: 30 }, (_, n) => ({ id: 'big', duration: n + 1 }))
    const { value } = await line.json(['calls', 'import', '-', '--project', 'A'], {
      stdin: linesOf([call, ...changes]),
    })
    expect(value).toMatchObject({ imported: 1, updated: 30, failed: 0 })
    const exported = await line.run(['calls', 'export', '--project', 'A'])
    expect(JSON.parse(exported.out)).toMatchObject({ ...call, duration: 30 })
    const again = await line.json(['calls', 'import', '-', '--project', 'B'], { stdin: exported.out })
    expect(again.value).toMatchObject({ imported: 1, failed: 0 })
  })

  test('a deleted call stays deleted, and the running service serves what was imported beside it', async () => {
    await withService(async ({ mintProject }, line) => {
      const project = await mintProject()
      const calls = linesOf([{ id: 'a' }, { id: 'b' }])
      const first = await line.json(['calls', 'import', '-', '--project', project.id], { stdin: calls })
      expect(first.value).toMatchObject({ imported: 2, failed: 0 })
      expect((await project.fetch('/v1/calls/a')).status).toBe(200)
      expect((await project.fetch('/v1/calls/a', { method: 'DELETE' })).status).toBe(200)
      const again = await line.json(['calls', 'import', '-', '--project', project.id], { stdin: calls })
      expect(again).toMatchObject({ code: 1, value: { imported: 0, updated: 1, failed: 1 } })
      expect(again.value.errors).toEqual([
        { line: 1, id: 'a', message: expect.stringContaining('stays deleted') },
      ])
      expect((await project.fetch('/v1/calls/a')).status).toBe(404)
    })
  })

  test.each([
    ['a missing file', () => join(newFolder(), 'none.jsonl'), /none\.jsonl: there is no such file/],
    ['a folder', newFolder, /it is a folder/],
  ])('%s is one sentence', async (_, path, message) => {
    const line = new Line()
    await line.project()
    const { code, out, err } = await line.run(['calls', 'import', path(), '--project', 'Acme', '--json'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(message)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('an export whose reader has gone ends quietly', async () => {
    const line = new Line()
    await line.project()
    await line.run(['calls', 'import', fileOf(linesOf(sampleCalls())), '--project', 'Acme'])
    const child = line.spawn(['calls', 'export', '--project', 'Acme'])
    const reader = child.stdout.getReader()
    await reader.read()
    await reader.cancel()
    expect(await child.exited).toBe(0)
    expect(await new Response(child.stderr).text()).toBe('')
  })

  test('an interrupted import ends with exit 1, keeps what is committed and can be repeated', async () => {
    const line = new Line()
    await line.project()
    const calls = Array.from({ length: 600 }, (_, i) => ({ id: `call-${i}` }))
    const child = Bun.spawn(
      ['bun', 'scripts/callbook.ts', 'calls', 'import', '-', '--project', 'Acme', '--json'],
      {
        cwd: repository,
        env: { ...process.env, EMBEDDING_PROVIDER: 'builtin', DATA_DIR: line.dataDir },
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    // More is to come, so the command waits for it.
    child.stdin.write(linesOf(calls))
    await child.stdin.flush()
    await until(async () => (await line.json(['calls', 'export', '--project', 'Acme'])).value.length === 500)
    child.kill('SIGINT')
    expect(await child.exited).toBe(1)
    expect(await new Response(child.stderr).text()).toContain('Interrupted.')
    expect(JSON.parse(await new Response(child.stdout).text())).toMatchObject({ imported: 500 })
    const again = await line.json(['calls', 'import', '-', '--project', 'Acme'], { stdin: linesOf(calls) })
    expect(again.value).toMatchObject({ imported: 100, updated: 500, failed: 0 })
  })
})

describe('knowledge', () => {
  function documents(): string {
    const folder = newFolder()
    mkdirSync(join(folder, 'deep', 'deeper'), { recursive: true })
    mkdirSync(join(folder, '.hidden'))
    const write = (name: string, content: string | Uint8Array) => writeFileSync(join(folder, name), content)
    write(
      'b refunds.md',
      '```\n# not this\n```\n\n# Refund *policy*\n\nWe refund any order within 30 days.\n',
    )
    write('a.txt', 'Opening hours are nine to five.\r\n')
    write('deep/title.md', '---\ntitle: "Shipping rates"\n---\n\n## Europe\n\nFive francs.\n')
    write('deep/deeper/z.MD', '\ufeff# Züge\n\nTrains.')
    write('.hidden/no.md', '# Hidden')
    write('picture.png', '# no')
    return folder
  }

  test('files and folders become items, named after heading, title or file, byte for byte', async () => {
    const line = new Line()
    const id = await line.project()
    const folder = documents()
    const { code, err, value } = await line.json(['knowledge', 'import', folder, '--project', 'Acme'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(value).toMatchObject({ imported: 4, unchanged: 0, failed: 0, chunks: 4, pendingChunks: 0 })
    expect(value.items.map((item: { name: string; path: string }) => [item.path, item.name])).toEqual([
      [join(folder, 'a.txt'), 'a'],
      [join(folder, 'b refunds.md'), 'Refund policy'],
      [join(folder, 'deep/deeper/z.MD'), 'Züge'],
      [join(folder, 'deep/title.md'), 'Shipping rates'],
    ])
    await withService(async ({ url }) => {
      const { value: key } = await line.json(['key', 'create', '--project', id, '--name', 'x'])
      const response = await fetch(`${url}/v1/knowledge`, { headers: { authorization: `Bearer ${key.key}` } })
      const items = (await response.json()) as { id: string; text: string }[]
      for (const item of value.items) {
        expect(items.find((one) => one.id === item.id)?.text).toBe(readFileSync(item.path, 'utf8'))
      }
      const again = await line.json(['knowledge', 'import', folder, '--project', id])
      expect(again.value).toMatchObject({ imported: 0, unchanged: 4, failed: 0 })
    }, line.dataDir)
  })

  test('bad files are told by their paths and skipped, the others are imported, and the exit code is 1', async () => {
    const line = new Line()
    await line.project()
    const folder = newFolder()
    const bad: [string, string | Uint8Array, RegExp][] = [
      ['blank.md', ' \n\t\n', /blank/],
      ['empty.md', '', /blank/],
      ['latin.txt', new Uint8Array([0x47, 0x72, 0xfc, 0x65]), /UTF-8/],
      ['large.md', 'x'.repeat(1_001), /1001 bytes/],
      ['zero.md', 'a\0b', /U\+0000/],
    ]
    for (const [name, content] of bad) writeFileSync(join(folder, name), content)
    writeFileSync(join(folder, 'good.md'), '# Good')
    const other = fileOf('x', 'page.html')
    const none = join(folder, 'none.md')
    const ran = await line.json(
      ['knowledge', 'import', folder, other, none, newFolder(), '--project', 'Acme'],
      {
        env: { KNOWLEDGE_TEXT_MAX_BYTES: '1000' },
      },
    )
    expect(ran.code).toBe(1)
    expect(ran.value).toMatchObject({ imported: 1, failed: bad.length + 3 })
    const messageOf = new Map(
      ran.value.errors.map((e: { path: string; message: string }) => [e.path, e.message]),
    )
    for (const [name, , message] of bad) expect(messageOf.get(join(folder, name))).toMatch(message)
    expect(messageOf.get(other)).toMatch(/not a \.md or \.txt/)
    expect(messageOf.get(none)).toBe('there is no such file or folder')
    for (const [name] of bad) expect(ran.err).toContain(`${join(folder, name)}: `)
  })

  test('beside a running service it is found there, by keyword and by vector', async () => {
    await withService(async ({ mintProject }, line) => {
      const project = await mintProject()
      const { value } = await line.json(['knowledge', 'import', documents(), '--project', project.name])
      expect(value).toMatchObject({ imported: 4, failed: 0 })
      const search = async (mode: string) => {
        const body = { query: 'refund any order', mode, limit: 1, timeoutMs: 10_000 }
        const response = await project.send('POST', '/v1/knowledge/search', body)
        return (await response.json()) as { data: { name: string }[]; mode: string }
      }
      expect((await search('keyword')).data).toMatchObject([{ name: 'Refund policy' }])
      await until(async () => (await search('vector')).data[0]?.name === 'Refund policy')
      expect((await search('vector')).mode).toBe('vector')
      await until(async () => {
        const [check] = (await line.json(['index', 'verify', '--project', project.id])).value
        return check.pendingChunks === 0 && check.fileVectors === 4
      })
    })
  })

  test('a failing embedding provider leaves the chunks pending and is no reason to fail', async () => {
    const line = new Line()
    await line.project()
    const { code, value } = await line.json(['knowledge', 'import', documents(), '--project', 'Acme'], {
      env: { EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_ENDPOINT: 'http://127.0.0.1:1' },
    })
    expect(code).toBe(0)
    expect(value).toMatchObject({ imported: 4, failed: 0, pendingChunks: 4 })
    const { value: checks } = await line.json(['index', 'verify'])
    expect(checks).toMatchObject([{ ok: true, pendingChunks: 4, rowVectors: 0 }])
  })
})

describe('index', () => {
  async function filled(): Promise<Line> {
    const line = new Line()
    await line.project()
    const text = Array.from({ length: 40 }, (_, i) => `## Part ${i}\n\n${`word${i} `.repeat(60)}\n`).join(
      '\n',
    )
    await line.json(['knowledge', 'import', fileOf(text, 'parts.md'), '--project', 'Acme'])
    return line
  }

  test('what is not saved yet is no fault; a rebuild saves it; a damaged file is one until it is rebuilt', async () => {
    const line = await filled()
    const unsaved = await line.json(['index', 'verify'])
    expect(unsaved.code).toBe(0)
    const rows = unsaved.value[0].rowVectors
    expect(unsaved.value).toMatchObject([
      { ok: true, problem: null, fileVectors: 0, rowsNotInFile: rows, pendingChunks: 0, recallAt10: null },
    ])
    expect(rows).toBeGreaterThan(10)

    const rebuilt = await line.json(['index', 'rebuild', '--project', 'Acme'])
    expect(rebuilt).toMatchObject({ code: 0, err: '' })
    const [sound] = (await line.json(['index', 'verify', '--project', 'Acme'])).value
    expect(sound).toMatchObject({ ok: true, fileVectors: rows, rowsNotInFile: 0, vectorsWithoutRow: 0 })
    expect(sound.recallAt10).toBeGreaterThan(0.9)

    const [file = ''] = readdirSync(join(line.dataDir, 'indexes')).filter((name) => name.endsWith('.hnsw'))
    const path = join(line.dataDir, 'indexes', file)
    const bytes = readFileSync(path)
    bytes.writeUInt8(bytes.readUInt8(2_000) ^ 1, 2_000)
    writeFileSync(path, bytes)
    const corrupt = await line.json(['index', 'verify'])
    expect(corrupt).toMatchObject({ code: 1, value: [{ ok: false, problem: expect.any(String) }] })
    expect((await line.run(['index', 'verify'])).err).toContain('bun callbook index rebuild --project prj_')
    const doctor = await line.json(['doctor'])
    expect(doctor.code).toBe(1)
    expect(doctor.value.at(-1)).toMatchObject({ check: 'index', ok: false, advice: expect.any(String) })

    expect((await line.json(['index', 'rebuild'])).code).toBe(0)
    expect((await line.json(['index', 'verify'])).value).toMatchObject([{ ok: true, fileVectors: rows }])
  })

  test('a vector whose row is gone is a fault', async () => {
    const line = await filled()
    await line.run(['index', 'rebuild'])
    await withService(async ({ services }) => {
      // Behind everybody's back, as no command or route would.
      await services.database.write.run(sql`delete from chunks where label = 1`)
      const { code, value } = await line.json(['index', 'verify'], { env: { ERASE_WITHIN_MS: '100' } })
      expect(code).toBe(1)
      expect(value).toMatchObject([{ ok: false, problem: null, vectorsWithoutRow: 1 }])
    }, line.dataDir)
  })

  test('a running service is asked to rebuild, and has saved when the command ends', async () => {
    const line = await filled()
    await withService(async () => {
      for (const name of readdirSync(join(line.dataDir, 'indexes'))) {
        writeFileSync(join(line.dataDir, 'indexes', name), 'damaged')
      }
      const { code, value, err } = await line.json(['index', 'rebuild', '--project', 'Acme'])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(value).toMatchObject([{ ok: true, rowsNotInFile: 0 }])
      expect(value[0].fileVectors).toBe(value[0].rowVectors)
    }, line.dataDir)
  })
})

describe('doctor', () => {
  const all = ['configuration', 'addon', 'database', 'embedding', 'index']

  test('a sound folder passes every check, also while the service runs', async () => {
    await withService(async (_, line) => {
      const { code, value } = await line.json(['doctor'])
      expect(value.filter((check: { ok: boolean }) => !check.ok)).toEqual([])
      expect(code).toBe(0)
      expect(value.map((check: { check: string }) => check.check)).toEqual(all)
      const text = await line.run(['doctor'])
      expect(text.out.split('\n').filter((one) => one.startsWith('✓'))).toHaveLength(all.length)
    })
  })

  test('a bad configuration is told variable by variable', async () => {
    const { code, value, err } = await new Line().json(['doctor'], {
      env: { PORT: 'x', INDEX_WAIT_MS: '-1' },
    })
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(value[0]).toMatchObject({ check: 'configuration', ok: false, advice: expect.any(String) })
    expect(value[0].detail).toMatch(/PORT.*\n.*INDEX_WAIT_MS/)
  })

  test('a file that is no database is a fault with advice', async () => {
    const line = new Line()
    writeFileSync(
      join(line.dataDir, 'callbook.db'),
      'not a database, and long enough to be looked at'.repeat(100),
    )
    const { code, value } = await line.json(['doctor'])
    expect(code).toBe(1)
    expect(value.at(-1)).toMatchObject({ check: 'database', ok: false, advice: expect.any(String) })
  })

  test('an embedding provider is asked for real: a good one passes, one that refuses is a fault', async () => {
    const provider = await startFakeEmbeddings()
    const line = new Line()
    const env = { EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_ENDPOINT: provider.url }
    const checkOf = async () => (await line.json(['doctor'], { env })).value[3]
    try {
      expect(await checkOf()).toMatchObject({ check: 'embedding', ok: true })
      provider.always({ status: 401, body: { error: 'Invalid credentials' } })
      expect(await checkOf()).toMatchObject({
        check: 'embedding',
        ok: false,
        advice: expect.stringContaining('HF_TOKEN'),
      })
    } finally {
      await provider.stop()
    }
  })
})
