import type { Command } from 'commander'
import { readableFiles } from '../../src/knowledge/files/file-kind.ts'
import type { ImportSummary } from './knowledge-import.ts'
import type { SyncSummary } from './knowledge-sync.ts'
import { counted, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addKnowledgeCommands(program: Command, shell: Shell): void {
  const knowledge = program.command('knowledge').description('What agents retrieve from.')

  knowledge
    .command('import')
    .description(
      `Import ${readableFiles}, and folders of them, except names that start with a dot. An item is named after the ` +
        'title of its file (in Markdown: that of the front matter, else the first heading), else after the file. A ' +
        'file that is stored already, with the same name and text, is skipped.',
    )
    .argument('<path...>', 'files and folders')
    .requiredOption('--project <project>', 'id or name of the project')
    .option(
      '--json',
      'print {"imported","unchanged","failed","chunks","pendingChunks","seconds","items","errors"}',
    )
    .action(async (paths: string[], { project, json }: { project: string; json?: true }) => {
      const { KnowledgeImport } = await import('./knowledge-import.ts')
      const summary = await shell.withServices(async (services) => {
        const { projectId } = await services.projects.find(project)
        return await new KnowledgeImport(services, shell, projectId).run(paths)
      })
      if (summary.failed > 0 || shell.signal.aborted) shell.exitCode = 1
      if (shell.signal.aborted)
        shell.say('Interrupted. Import again: files that are stored already are skipped.')
      await shell.answer(json, summary, textOf(summary))
    })

  knowledge
    .command('sync')
    .description(
      'Make a project’s items equal a folder: each .md and .txt file in it is an item, under an id made of the name of ' +
        'the set and the path. A file that has not changed is left alone.',
    )
    .argument('<folder>', 'the folder')
    .requiredOption('--project <project>', 'id or name of the project')
    .option('--name <name>', 'name of the set of items (default: that of the folder)')
    .option('--prune', 'delete the items of the set whose files are gone')
    .option(
      '--json',
      'print {"set","created","changed","unchanged","deleted","failed","pendingChunks","seconds","errors"}',
    )
    .action(async (folder: string, { project, name, prune = false, json }: SyncFlags) => {
      const { KnowledgeSync } = await import('./knowledge-sync.ts')
      const summary = await shell.withServices(async (services) => {
        const { projectId } = await services.projects.find(project)
        return await new KnowledgeSync({ services, shell, projectId, folder, name, prune }).run()
      })
      if (summary.failed > 0 || shell.signal.aborted) shell.exitCode = 1
      if (shell.signal.aborted)
        shell.say('Interrupted. Sync again: files that are stored already are skipped.')
      await shell.answer(json, summary, syncTextOf(summary))
    })
}

interface SyncFlags {
  project: string
  name?: string
  prune?: boolean
  json?: true
}

function syncTextOf({ set, created, changed, unchanged, deleted, failed, seconds }: SyncSummary): string {
  return (
    `${shown(set)}: ${counted(created, 'item')} created, ${changed} changed, ${unchanged} unchanged, ${deleted} deleted, ` +
    `${counted(failed, 'bad file')} (${seconds} s).`
  )
}

function textOf(summary: ImportSummary): string[] {
  const { imported, unchanged, failed, chunks, pendingChunks, seconds } = summary
  const lines = [
    `Imported ${counted(imported, 'item')} of ${counted(chunks, 'chunk')}, skipped ${unchanged} that were stored already and ` +
      `${counted(failed, 'bad file')} (${seconds} s).`,
  ]
  if (pendingChunks > 0) {
    lines.push(
      `${counted(pendingChunks, 'chunk')} of the project pending: the service embeds them. ` +
        'Until then they are found by keyword.',
    )
  }
  return lines
}
