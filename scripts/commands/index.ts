import type { Command } from 'commander'
import type { IndexCheck } from './index-check.ts'
import { shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface Options {
  project?: string
  json?: true
}

export function addIndexCommands(program: Command, shell: Shell): void {
  const index = program.command('index').description('The vector index files, one per project.')

  index
    .command('verify')
    .description(
      'Compare the index files with the rows. Exits 1 for a corrupt file or a vector whose row is gone. ' +
        'Chunks that are pending or not saved yet are not an error. Recall is measured against exact search.',
    )
    .option('--project <project>', 'id or name of a project (default: all)')
    .option('--json', 'print an array, one entry per project')
    .action(async ({ project, json }: Options) => {
      const { verifyIndex } = await import('./index-check.ts')
      const checks = await shell.withServices(async (services) => {
        const all: IndexCheck[] = []
        for (const one of await shell.projects(services, project)) {
          shell.signal.throwIfAborted()
          all.push(await verifyIndex(services, one, shell.signal))
        }
        return all
      })
      await answer(shell, json, checks)
      if (json) return
      for (const { ok, project, faults } of checks) {
        if (!ok) shell.say(`${shown(project.name)}: ${faults.join('; ')}. ${rebuildAdvice(project.id)}`)
      }
    })

  index
    .command('rebuild')
    .description(
      'Rebuild the index from the rows and save it. If a service runs on the folder, the service does the work.',
    )
    .option('--project <project>', 'id or name of a project (default: all)')
    .option('--json', 'print an array, one entry per project')
    .action(async ({ project, json }: Options) => {
      const { rebuildIndexes } = await import('./index-rebuild.ts')
      const { verifyIndex } = await import('./index-check.ts')
      const checks = await shell.withServices(
        async (services) => {
          const projects = await shell.projects(services, project)
          await rebuildIndexes(services, projects, shell)
          const all: IndexCheck[] = []
          for (const one of projects) all.push(await verifyIndex(services, one, shell.signal))
          return all
        },
        { takesFolder: true },
      )
      await answer(shell, json, checks)
    })
}

function rebuildAdvice(projectId: string): string {
  return `Rebuild it: bun callbook index rebuild --project ${projectId}`
}

async function answer(shell: Shell, json: true | undefined, checks: readonly IndexCheck[]): Promise<void> {
  if (checks.some(({ ok }) => !ok)) shell.exitCode = 1
  const rows = checks.map((check) => [
    check.ok ? '✓' : '✗',
    check.project.name,
    String(check.fileVectors),
    String(check.rowVectors),
    String(check.vectorsWithoutRow),
    String(check.rowsNotInFile),
    String(check.pendingChunks),
    check.recallAt10 === null ? '-' : check.recallAt10.toFixed(3),
  ])
  const head = ['', 'PROJECT', 'IN FILE', 'IN ROWS', 'WITHOUT ROW', 'NOT SAVED', 'PENDING', 'RECALL@10']
  await shell.answerList(json, checks, { head, rows, none: 'There are no projects yet.' })
}
