import type { Command } from 'commander'
import { type OfProject, projectOption } from './options.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

interface OfRecordings extends OfProject {
  call?: string
}

export function addRecordingCommands(program: Command, shell: Shell): void {
  const recording = program.command('recording').description('The recordings of calls.')

  recording
    .command('fetch')
    .description('Fetch again the recordings that could not be fetched. The service does the work.')
    .requiredOption(...projectOption)
    .option('--call <id>', 'id of a call (default: all)')
    .option('--json', 'print {"queued"}')
    .action(async ({ project, call, json }: OfRecordings) => {
      const done = await shell.inProject(project, ({ fetchQueue }, projectId) =>
        fetchQueue.tryAgain(projectId, call),
      )
      await shell.answer(json, done, `Queued ${counted(done.queued, 'recording')}.`)
    })

  recording
    .command('measure')
    .description('Measure again what is heard in recordings. The service does the work.')
    .requiredOption(...projectOption)
    .option('--call <id>', 'id of a call (default: all)')
    .option('--json', 'print {"queued"}')
    .action(async ({ project, call, json }: OfRecordings) => {
      const done = await shell.inProject(project, ({ recordings }, projectId) =>
        recordings.measureAgain(projectId, call),
      )
      await shell.answer(json, done, `Queued ${counted(done.queued, 'recording')}.`)
    })
}
