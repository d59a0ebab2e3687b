import { type Command, Option } from 'commander'
import type { Config } from '../../src/config.ts'
import { columns, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface InviteOptions {
  project: string
  role: 'owner' | 'member'
  json?: true
}

export function addPersonCommands(program: Command, shell: Shell): void {
  const person = program.command('person').description('The people who sign in to the console.')

  person
    .command('list')
    .description('List everybody, with their projects, and who owns the console.')
    .option('--json', 'print an array of {"id","name","email","ownsConsole","projects"}')
    .action(async ({ json }: { json?: true }) => {
      const all = await shell.withServices(({ console }) => console.people.list())
      const rows = all.map(({ name, email, ownsConsole, projects }) => [
        name,
        email,
        ownsConsole ? 'owner' : '',
        projects.map((project) => `${project.name} (${project.role})`).join(', ') || 'no project',
      ])
      await shell.answer(
        json,
        all,
        rows.length > 0
          ? columns([['NAME', 'E-MAIL', 'CONSOLE', 'PROJECTS'], ...rows])
          : 'Nobody has an account yet: use the set-up link, which bun callbook person setup makes anew.',
      )
    })

  person
    .command('invite')
    .description('Make a link by which one person joins a project. It is good for seven days and one use.')
    .requiredOption('--project <project>', 'id or name of the project')
    .addOption(
      new Option(
        '--role <role>',
        'owners may do everything; members all but keys, people, renaming and deleting it',
      )
        .choices(['owner', 'member'])
        .default('member'),
    )
    .option('--json', 'print {"id","role","link","expiresAt"}')
    .action(async ({ project, role, json }: InviteOptions) => {
      const baseUrl = consoleOrigin(shell.loadConfig())
      const { id, link, expiresAt } = await shell.withServices(async ({ projects, console }) =>
        console.invitations.create((await projects.find(project)).projectId, role, baseUrl),
      )
      await shell.answer(json, { id, role, link, expiresAt }, [
        link,
        '',
        `Whoever opens it first joins as ${role}. It is shown this once, and good until ${expiresAt}.`,
      ])
    })

  person
    .command('reset')
    .description('Make a link by which a person sets another password. It is good for a day and one use.')
    .argument('<email>', 'e-mail address of the person')
    .option('--json', 'print {"email","link","expiresAt"}')
    .action(async (wanted: string, { json }: { json?: true }) => {
      const baseUrl = consoleOrigin(shell.loadConfig())
      const { email, link, expiresAt } = await shell.withServices(({ console }) =>
        console.invitations.createPasswordLink(wanted, baseUrl),
      )
      await shell.answer(json, { email, link, expiresAt }, [
        link,
        '',
        `It sets another password for ${shown(email)} and is good until ${expiresAt}.`,
      ])
    })

  person
    .command('setup')
    .description('Make a new set-up link, for a console that nobody owns. The one before stops working.')
    .option('--json', 'print {"link"}')
    .action(async ({ json }: { json?: true }) => {
      const link = `${consoleOrigin(shell.loadConfig())}/console/setup#`
      const token = await shell.withServices(({ console }) => console.people.replaceSetUpLink())
      await shell.answer(json, { link: link + token }, [
        link + token,
        '',
        'Whoever opens it first owns the console, and every project that has no owner. It is shown this once.',
      ])
    })

  person
    .command('remove')
    .description(
      'Delete a person: their sessions end, and they are in no project any more. Keys that they made go on working, ' +
        'and the audit trail still names them.',
    )
    .argument('<email>', 'e-mail address of the person')
    .requiredOption('--yes', 'say that you mean it: this cannot be undone')
    .option('--json', 'print {"id","deleted"}')
    .action(async (wanted: string, { json }: { json?: true }) => {
      const { email, ownedConsole, deleted } = await shell.withServices(async ({ console: { people } }) => {
        const { id, email } = await people.find(wanted)
        const ownedConsole = (await people.consoleOwner()) === id
        return { email, ownedConsole, deleted: await people.remove(id) }
      })
      const next =
        'Nobody owns the console now: bun callbook person setup makes a link for somebody who will.'
      await shell.answer(json, deleted, [`Deleted ${shown(email)}.`, ...(ownedConsole ? [next] : [])])
    })
}

/** Where people reach the console, as far as the configuration tells. */
export function consoleOrigin({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
