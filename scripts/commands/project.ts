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
    .argument('<name>', 'name of the project, not that of another of its owner')
    .option('--owner <email>', 'who owns it in the console (default: nobody)')
    .option('--json', 'print {"id","name"}')
    .action(async (wanted: string, { owner, json }: { owner?: string; json?: true }) => {
      const { id, name } = await shell.withServices(async ({ projects, console }) => {
        const ownerId = owner === undefined ? null : (await console.people.find(owner)).id
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
  project
    .command('rename')
    .description('Give a project another name. Its id, its keys and what is in it stay.')
    .argument('<project>', 'id or name of the project')
    .argument('<name>', 'its new name, not that of another of its owner')
    .option('--json', 'print {"id","name"}')
    .action(async (wanted: string, newName: string, { json }: { json?: true }) => {
      const { id, name } = await shell.withServices(async ({ projects }) =>
        projects.rename((await projects.find(wanted)).projectId, newName),
      )
      await shell.answer(json, { id, name }, `The project is called ${shown(name)} now (${id}).`)
    })

  project
    .command('remove')
    .description(
      'Delete a project for good, with its calls, knowledge, keys and members. It is unreachable at once; what is ' +
        'left of it in files is erased by this command, or by the service that runs on the folder.',
    )
    .argument('<project>', 'id or name of the project')
    .requiredOption('--yes', 'say that you mean it: this cannot be undone')
    .option('--json', 'print {"id","deleted"}')
    .action(async (wanted: string, { json }: { json?: true }) => {
      const { name, deleted } = await shell.withServices(
        async ({ projects, projectErasure, ownsFolder }) => {
          const found = await projects.find(wanted)
          const removed = await projects.remove(found.projectId)
          if (ownsFolder) await projectErasure.finish()
          return { name: found.name, deleted: removed }
        },
        { takesFolder: true },
      )
      await shell.answer(json, deleted, `Deleted the project ${shown(name)} (${deleted.id}) for good.`)
    })
}
