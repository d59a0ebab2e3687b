import type { Command } from 'commander'
import { consoleOrigin } from './folder.ts'
import type { AsJson } from './options.ts'
import type { Shell } from './shell.ts'

interface DemoOptions extends AsJson {
  owner?: string
  remove?: true
}

export function addDemoCommand(program: Command, shell: Shell): void {
  program
    .command('demo')
    .description(
      'Make the project `demo`: some 300 calls of a dental practice in the last 30 days, with sound, knowledge, an alert ' +
        'and a queue of reviews. It is made only once; remove it and make it again for newer dates.',
    )
    .option(
      '--owner <email>',
      'email address of its owner in the console (default: whoever owns the console)',
    )
    .option('--remove', 'delete it with everything in it')
    .option('--json', 'print {"id","isNew"}, or {"deleted"}')
    .action(async ({ owner, remove, json }: DemoOptions) => {
      if (remove) {
        const deleted = await shell.withServices(({ demo }) => demo.remove())
        const line = deleted ? 'Deleted the project demo.' : 'There is no demo.'
        return await shell.answer(json, { deleted }, line)
      }
      const { project, isNew } = await shell.withServices(async ({ demo, console }) => {
        const ownerId = owner === undefined ? null : (await console.people.find(owner)).id
        return await demo.make({ ownerId })
      })
      const address = `${consoleOrigin(shell.loadConfig())}/console/p/${project.id}`
      const line = `${isNew ? 'Made' : 'There is'} the project demo: ${address}`
      await shell.answer(json, { id: project.id, isNew }, line)
    })
}
