import type { Command } from 'commander'
import type { ExportOptions } from './calls-export.ts'
import type { ImportSummary } from './calls-import.ts'
import { type OfProject, projectOption } from './options.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

export function addCallsCommands(program: Command, shell: Shell): void {
  const calls = program.command('calls').description('The records of calls.')

  calls
    .command('import')
    .description(
      'Import calls: one JSON object per line, with an id and the fields of PUT /ingest/calls/:id. A bad ' +
        'line is reported and skipped. Existing calls are merged, so importing twice does no harm.',
    )
    .argument('<file>', 'JSON lines; - reads stdin')
    .requiredOption(...projectOption)
    .option('--json', 'print {"imported","updated","failed","seconds","errors"}')
    .action(async (file: string, { project, json }: OfProject) => {
      const { CallsImport } = await import('./calls-import.ts')
      const summary = await shell.inProject(project, (services, projectId) =>
        new CallsImport(services, shell, projectId).run(file),
      )
      const again = 'Run the import again: calls that are already stored stay as they are.'
      await shell.answerRun(json, summary, { lines: textOf(summary), again })
    })

  calls
    .command('export')
    .description('Print all calls, or those that match a query: one per line, oldest first.')
    .requiredOption(...projectOption)
    .option('--query <query>', 'as for GET /v1/calls, such as "status=completed&from=2026-01-01"')
    .option('--csv', 'print CSV, without transcripts and analyses')
    .option('--recordings <folder>', 'also save the recordings there, each under the id of its call')
    .option('--json', 'print one array instead of lines')
    .action(async (options: ExportOptions) => {
      const { exportCalls } = await import('./calls-export.ts')
      await shell.inProject(options.project, (services, projectId) =>
        exportCalls(services, { shell, projectId, ...options }),
      )
    })
}

function textOf({ imported, updated, failed, seconds }: ImportSummary): string {
  const calls = counted(imported, 'call')
  return `Imported ${calls}, merged ${updated} existing ones, skipped ${counted(failed, 'bad line')} (${seconds} s).`
}
