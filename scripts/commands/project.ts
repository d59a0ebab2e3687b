import type { Command } from 'commander'
import type { AsJson } from './options.ts'
import { addSet } from './project-settings.ts'
import { sentenceOf, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addProjectCommands(program: Command, shell: Shell): void {
  const project = program
    .command('project')
    .description('The projects, each with its own calls and knowledge.')
  addCreate(project, shell)
  addList(project, shell)
  addRename(project, shell)
  addSet(project, shell)
  addRemove(project, shell)
}

function addCreate(project: Command, shell: Shell): void {
  project
    .command('create')
    .description('Create projects.')
    .argument('<name...>', 'their names; the owner must not have another project with such a name')
    .option('--owner <email>', 'email address of their owner in the console (default: none)')
    .option('--json', 'print {"id","name"}, or an array of them for several names')
    .action(async (names: string[], { owner, json }: { owner?: string; json?: true }) => {
      const made: { id: string; name: string }[] = []
      const answer = async () => {
        const lines = made.map(({ id, name }) => `Created the project ${shown(name)} (${id}).`)
        await shell.answer(json, names.length > 1 ? made : made[0], lines)
      }
      await shell.withServices(async ({ projects, console }) => {
        const ownerId = owner === undefined ? null : (await console.people.find(owner)).id
        for (const wanted of names) {
          const { id, name } = await projects.create(wanted, { ownerId }).catch(async (error) => {
            if (names.length === 1) throw error
            // Those before it stay.
            await answer()
            throw new Error(`${shown(wanted)}: ${sentenceOf(error)}`, { cause: error })
          })
          made.push({ id, name })
        }
      })
      await answer()
    })
}

function addList(project: Command, shell: Shell): void {
  project
    .command('list')
    .description('List the projects.')
    .option('--json', 'print an array of {"id","name"}')
    .action(async ({ json }: AsJson) => {
      const all = await shell.withServices(({ projects }) => projects.list())
      const values = all.map(({ id, name }) => ({ id, name }))
      await shell.answerList(json, values, {
        head: ['ID', 'NAME'],
        rows: all.map(({ id, name }) => [id, name]),
        none: 'There are no projects yet. Create one: bun callbook project create NAME',
      })
    })
}

function addRename(project: Command, shell: Shell): void {
  project
    .command('rename')
    .description('Rename a project. Its id, keys and contents stay.')
    .argument('<project>', 'id or name of the project')
    .argument('<name>', 'its new name; its owner must not have another project with this name')
    .option('--json', 'print {"id","name"}')
    .action(async (wanted: string, newName: string, { json }: AsJson) => {
      const { id, name } = await shell.inProject(wanted, ({ projects }, projectId) =>
        projects.rename(projectId, newName),
      )
      await shell.answer(json, { id, name }, `Renamed the project to ${shown(name)} (${id}).`)
    })
}

function addRemove(project: Command, shell: Shell): void {
  project
    .command('remove')
    .description(
      'Delete a project for good, with its calls, knowledge, keys and members. The project is gone at once. ' +
        'This command, or the service that runs on the folder, then erases its bytes from the files.',
    )
    .argument('<project>', 'id or name of the project')
    .requiredOption('--yes', 'confirm: this cannot be undone')
    .option('--json', 'print {"id","deleted"}')
    .action(async (wanted: string, { json }: AsJson) => {
      const { name, deleted } = await shell.withServices(
        async ({ projects, projectErasure, ownsFolder }) => {
          const found = await projects.find(wanted)
          const removed = await projects.delete(found.projectId)
          if (ownsFolder) await projectErasure.finish()
          return { name: found.name, deleted: removed }
        },
        { takesFolder: true },
      )
      await shell.answer(json, deleted, `Deleted the project ${shown(name)} (${deleted.id}) for good.`)
    })
}
