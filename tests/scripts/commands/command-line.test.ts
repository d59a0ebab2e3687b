import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder } from '../../support/at-end.ts'
import { asCommand } from '../../support/command.ts'
import { CommandLine } from '../../support/command-line.ts'

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
    ['source', 'create'],
    ['source', 'list'],
    ['source', 'rotate'],
    ['source', 'remove'],
    ['source', 'failures'],
    ['source', 'read-again'],
    ['calls', 'import'],
    ['calls', 'export'],
    ['knowledge', 'import'],
    ['index', 'verify'],
    ['index', 'rebuild'],
    ['backup'],
    ['restore'],
    ['compare'],
    ['doctor'],
  ]

  test.each(commands)('%s %s explains itself with --help and knows --json', async (...words) => {
    const callbook = new CommandLine()
    const { code, out, err } = await callbook.run([...words.filter(Boolean), '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`Usage: callbook ${words.filter(Boolean).join(' ')}`)
    expect(out).toContain('--json')
    expect(readdirSync(callbook.dataDir)).toEqual([])
  })

  test('the help says what starts the service', async () => {
    const { code, out } = await new CommandLine().run(['--help'])
    expect([code, out.replace(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('None of these commands starts the service: `bun start` does'),
    ])
  })

  test.each(['alert', 'project', 'person', 'source', 'webhook'])(
    '%s has one word for removing',
    async (noun) => {
      const { out } = await new CommandLine().run([noun, '--help'])
      expect(out).toMatch(/\n {2}remove /)
      expect(out).not.toContain('|delete')
      expect((await new CommandLine().run([noun, 'delete', 'x'])).err).toContain("unknown command 'delete'")
    },
  )

  test.each([
    [[]],
    [['nonsense']],
    [['project']],
    [['project', 'create']],
    [['project', 'list', '--nonsense']],
    [['project', 'rename', 'p']],
    [['project', 'remove', 'p']],
    [['person', 'remove', 'ada@example.com']],
    [['key', 'create', '--name', 'x']],
    [['key', 'create', '--project', 'p', '--name', 'x', '--kind', 'other', '--json']],
    [['source', 'create', '--project', 'p']],
    [['source', 'create', '--project', 'p', '--platform', 'nobody', '--json']],
    [['calls', 'import', '--project', 'p', '--json']],
    [['knowledge', 'import', '--project', 'p']],
    [['calls', 'export']],
  ])('%p is a usage error: exit 1, a message on stderr, nothing on stdout', async (args) => {
    const callbook = new CommandLine()
    const { code, out, err } = await callbook.run(args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).not.toBe('')
    expect(readdirSync(callbook.dataDir)).toEqual([])
  })

  test.each([
    [['project', 'create', 'Acme']],
    [['project', 'list', '--json']],
    [['key', 'create', '--project', 'p', '--name', 'x']],
    [['person', 'setup']],
    [['source', 'list']],
    [['calls', 'export', '--project', 'p']],
    [['index', 'rebuild']],
    [['backup', 'OUT']],
  ])('%p says where it found no database, and makes none', async (args) => {
    const [there, out] = [join(freshFolder(), 'mistyped'), join(freshFolder(), 'out')]
    const given = args.map((arg) => (arg === 'OUT' ? out : arg))
    const { code, out: answer, err } = await new CommandLine(there).run(given, { env: { DATADIR: '/data' } })
    expect({ code, answer }).toEqual({ code: 1, answer: '' })
    expect(err).toContain('DATADIR is not known and has no effect: did you mean DATA_DIR?')
    expect(err).toContain(`There is no database at ${join(there, 'callbook.db')}.`)
    expect(existsSync(there)).toBe(false)
    expect(existsSync(out)).toBe(false)
  })

  test('every problem of a configuration is reported, with exit 1', async () => {
    const { code, out, err } = await new CommandLine().run(['project', 'list', '--json'], {
      env: { PORT: 'x', INDEX_WAIT_MS: '-1' },
    })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('PORT')
    expect(err).toContain('INDEX_WAIT_MS')
  })

  test('an unknown project is an error that lists those that exist', async () => {
    const callbook = new CommandLine()
    const run = () => callbook.run(['calls', 'export', '--project', 'nobody'])
    const refused = (there: string) => ({
      code: 1,
      out: '',
      err: `No project has the id or name nobody. ${there}\n`,
    })
    const first = await callbook.project('Acme')
    const second = await callbook.project('Billing')
    expect(await run()).toEqual(refused(`There are: Acme (${first}), Billing (${second}).`))
    await asCommand(callbook.dataDir, async ({ projects }) => {
      for (const { projectId } of await projects.list()) await projects.delete(projectId)
    })
    expect(await run()).toEqual(refused('There are no projects yet.'))
    await asCommand(callbook.dataDir, async ({ projects }) => {
      for (let at = 0; at < 25; at++) await projects.create(`Project ${at}`)
    })
    const { err } = await run()
    expect(err).toContain('Project 19 (prj_')
    expect(err).not.toContain('Project 20 ')
    expect(err).toEndWith(' and more.\n')
  })

  test('only their owner can read the files that it creates', async () => {
    const backup = join(freshFolder(), 'backup')
    await (await new CommandLine().withDatabase()).run(['backup', backup])
    const callbook = new CommandLine()
    await callbook.run(['restore', backup])
    await callbook.spawned(['project', 'create', 'Acme'])
    expect(statSync(join(callbook.dataDir, 'callbook.db')).mode & 0o077).toBe(0)
    expect(statSync(join(callbook.dataDir, 'indexes')).mode & 0o077).toBe(0)
  })
})
