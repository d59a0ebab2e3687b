import type { Command } from 'commander'
import { columns, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addProjectCommands(program: Command, shell: Shell): void {
  const project = program
    .command('project')
    .description('The projects, each with its own calls and knowledge.')

  project
    .command('create')
    .description('Create a project.')
    .argument('<name>', 'name of the project, not used by another')
    .option('--owner <email>', 'whose it is in the console (default: of the person who set it up)')
    .option('--json', 'print {"id","name"}')
    .action(async (wanted: string, { owner, json }: { owner?: string; json?: true }) => {
      const { id, name } = await shell.withServices(async ({ projects, console }) => {
        const { people } = console
        const ownerId = owner === undefined ? await people.consoleOwner() : (await people.find(owner)).id
        return await projects.create(wanted, { ownerId })
      })
      await shell.answer(json, { id, name }, `Created the project ${shown(name)} (${id}).`)
    })

  project
    .command('list')
    .description('List the projects.')
    .option('--json', 'print an array of {"id","name"}')
    .action(async ({ json }: { json?: true }) => {
      const all = await shell.withServices(({ projects }) => projects.list())
      const rows = [['ID', 'NAME'], ...all.map(({ id, name }) => [id, name])]
      await shell.answer(
        json,
        all.map(({ id, name }) => ({ id, name })),
        all.length > 0
          ? columns(rows)
          : 'There are no projects yet. Create one: bun callbook project create NAME',
      )
    })
}
