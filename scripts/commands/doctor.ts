import type { Command } from 'commander'
import type { Check, CheckOptions } from './checks.ts'
import { shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface DoctorOptions extends CheckOptions {
  json?: true
}

export function addDoctorCommand(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description(
      'Check the configuration, the database, the addon, the embedding provider (by embedding one word), the ' +
        'model for analysis (by asking for one word) and the index files, and say how to fix each problem.',
    )
    .option(
      '--repair',
      'count calls again where the counts are wrong, and remove files that belong to no recording',
    )
    .option(
      '--adopt-bucket',
      'let this database, and no other one, write and remove in the bucket of recordings',
    )
    .option(
      '--embedding',
      'check nothing but the embedding provider: dimensions and milliseconds of one vector',
    )
    .option('--json', 'print an array of {"check","ok","detail","advice"}')
    .action(async ({ json, ...options }: DoctorOptions) => {
      const { runChecks } = await import('./checks.ts')
      const checks: Check[] = []
      const report = async (check: Check) => {
        checks.push(check)
        if (!check.ok) shell.exitCode = 1
        if (!json) await shell.write(`${linesOf(check).join('\n')}\n`)
      }
      await runChecks(shell, report, options)
      if (json) await shell.answer(json, checks, [])
    })
}

function linesOf({ check, ok, detail, advice }: Check): string[] {
  const indent = ' '.repeat(16)
  const lines = detail.split('\n').map(shown)
  const first = `${ok ? '✓' : '✗'} ${check.padEnd(13)} ${lines[0] ?? ''}`
  return [first, ...[...lines.slice(1), ...(advice ? [`→ ${advice}`] : [])].map((line) => indent + line)]
}
