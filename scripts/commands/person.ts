import { Argument, type Command, Option } from 'commander'
import { type Role, roles } from '../../src/identity.ts'
import { consoleOrigin } from './folder.ts'
import { type AsJson, type OfProject, projectOption } from './options.ts'
import { shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface InviteOptions extends OfProject {
  role: Role
}

export function addPersonCommands(program: Command, shell: Shell): void {
  const person = program.command('person').description('The people who sign in to the console.')
  addList(person, shell)
  addInvite(person, shell)
  addReset(person, shell)
  addTwoFactorReset(person, shell)
  addTwoFactorRule(person, shell)
  addSetup(person, shell)
  addRemove(person, shell)
}

function addList(person: Command, shell: Shell): void {
  person
    .command('list')
    .description('List the people with their projects, and who owns the console.')
    .option('--json', 'print an array of {"id","name","email","ownsConsole","hasTwoFactor","projects"}')
    .action(async ({ json }: AsJson) => {
      const all = await shell.withServices(({ console }) => console.people.list())
      const rows = all.map(({ name, email, ownsConsole, projects }) => [
        name,
        email,
        ownsConsole ? 'owner' : '',
        projects.map((project) => `${project.name} (${project.role})`).join(', ') || 'no project',
      ])
      await shell.answerList(json, all, {
        head: ['NAME', 'EMAIL', 'CONSOLE', 'PROJECTS'],
        rows,
        none: 'No one has an account yet. Use the setup link, or create a new one: bun callbook person setup',
      })
    })
}

function addInvite(person: Command, shell: Shell): void {
  person
    .command('invite')
    .description(
      'Create a link that lets one person join a project. It works once and expires after seven days.',
    )
    .requiredOption(...projectOption)
    .addOption(
      new Option(
        '--role <role>',
        'owners can do everything; members can see and change calls and knowledge, and delete them unless the ' +
          'project forbids it; viewers can see them but change nothing',
      )
        .choices(roles)
        .default('member'),
    )
    .option('--json', 'print {"id","role","link","expiresAt"}')
    .action(async ({ project, role, json }: InviteOptions) => {
      const baseUrl = consoleOrigin(shell.loadConfig())
      const { id, link, expiresAt } = await shell.inProject(project, ({ console }, projectId) =>
        console.invitations.create(projectId, role, baseUrl),
      )
      await shell.answer(json, { id, role, link, expiresAt }, [
        link,
        '',
        `Whoever opens it first joins as ${role}. It is shown only once and works until ${expiresAt}.`,
      ])
    })
}

function addReset(person: Command, shell: Shell): void {
  person
    .command('reset')
    .description(
      'Create a link that lets a person set a new password. It works once and expires after a day.',
    )
    .argument('<email>', 'email address of the person')
    .option('--json', 'print {"email","link","expiresAt"}')
    .action(async (wanted: string, { json }: AsJson) => {
      const baseUrl = consoleOrigin(shell.loadConfig())
      const { email, link, expiresAt } = await shell.withServices(({ console }) =>
        console.invitations.createPasswordLink(wanted, baseUrl),
      )
      await shell.answer(json, { email, link, expiresAt }, [
        link,
        '',
        `It sets a new password for ${shown(email)} and works until ${expiresAt}.`,
      ])
    })
}

function addTwoFactorReset(person: Command, shell: Shell): void {
  person
    .command('reset-two-factor')
    .description(
      'Turn off two-factor sign-in for a person who has lost their app and backup codes. Their password is enough ' +
        'again.',
    )
    .argument('<email>', 'email address of the person')
    .option('--json', 'print {"email","isOn"}')
    .action(async (wanted: string, { json }: AsJson) => {
      const done = await shell.withServices(async ({ console: { people, twoFactor } }) =>
        twoFactor.reset(await people.find(wanted)),
      )
      await shell.answer(json, done, `${shown(done.email)} now signs in with only a password.`)
    })
}

function addTwoFactorRule(person: Command, shell: Shell): void {
  person
    .command('require-two-factor')
    .description(
      'Require a second factor of everybody who signs in with a password, or no longer. Without one, they must set it ' +
        'up before anything else.',
    )
    .addArgument(new Argument('<rule>', 'whether it is required').choices(['on', 'off']))
    .option('--json', 'print {"isOn"}')
    .action(async (rule: string, { json }: AsJson) => {
      const done = await shell.withServices(({ console }) => console.twoFactorRule.change(rule === 'on'))
      const sentence = done.isOn
        ? 'Everybody with a password now needs a second factor.'
        : 'A second factor is no longer required.'
      await shell.answer(json, done, sentence)
    })
}

function addSetup(person: Command, shell: Shell): void {
  person
    .command('setup')
    .description('Create a new setup link for a console that has no owner. The previous link stops working.')
    .option('--json', 'print {"link"}')
    .action(async ({ json }: AsJson) => {
      const link = `${consoleOrigin(shell.loadConfig())}/console/setup#`
      const token = await shell.withServices(({ console }) => console.people.replaceSetUpLink())
      await shell.answer(json, { link: link + token }, [
        link + token,
        '',
        'Whoever opens it first owns the console and every project without an owner. It is shown only once.',
      ])
    })
}

function addRemove(person: Command, shell: Shell): void {
  person
    .command('remove')
    .description(
      'Delete a person. Their sessions end and they leave every project. Keys that they created keep ' +
        'working, and the audit trail still names them.',
    )
    .argument('<email>', 'email address of the person')
    .requiredOption('--yes', 'confirm: this cannot be undone')
    .option('--json', 'print {"id","deleted"}')
    .action(async (wanted: string, { json }: AsJson) => {
      const { email, ownedConsole, deleted } = await shell.withServices(async ({ console: { people } }) => {
        const { id, email } = await people.find(wanted)
        const ownedConsole = (await people.consoleOwner()) === id
        return { email, ownedConsole, deleted: await people.delete(id) }
      })
      const next =
        'The console now has no owner. Create a setup link for a new owner: bun callbook person setup'
      await shell.answer(json, deleted, [`Deleted ${shown(email)}.`, ...(ownedConsole ? [next] : [])])
    })
}
