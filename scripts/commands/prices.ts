import type { Command } from 'commander'
import { readPrices } from '../../src/calls/costs/prices.ts'
import { invalidRequest } from '../../src/errors.ts'
import { readSince } from '../../src/text/instant.ts'
import { readJson } from './json-file.ts'
import { type OfProject, projectOption } from './options.ts'
import { counted } from './sentences.ts'
import type { Shell } from './shell.ts'

const dayMs = 86_400_000
const checkedDays = 30

export function addPricesCommands(program: Command, shell: Shell): void {
  const prices = program
    .command('prices')
    .description('What models cost, for calls whose platform does not say what they cost.')

  prices
    .command('check')
    .description(
      `Check a list of prices, and name the models of the last ${checkedDays} days that have none.`,
    )
    .argument('<file>', 'the list, in JSON; - for standard input')
    .option('--project <project>', 'id or name of a project (default: all)')
    .option('--json', 'print {"lines","missing"}')
    .action(async (file: string, { project, json }: { project?: string; json?: true }) => {
      const list = readPrices(readJson(file))
      const missing = await shell.withServices(async ({ projects, costs, now }) => {
        const projectId = project === undefined ? undefined : (await projects.find(project)).projectId
        return await costs.missing(list, now() - checkedDays * dayMs, projectId)
      })
      if (Object.keys(missing).length > 0) shell.exitCode = 1
      await shell.answer(json, { lines: list.length, missing }, linesOf(missing))
    })

  prices
    .command('apply')
    .description('Compute costs again that were computed, or could not be; never what a platform has said.')
    .requiredOption(...projectOption)
    .requiredOption(
      '--since <since>',
      'calls that began since then: days before now such as 90d, or an ISO time',
    )
    .option('--dry-run', 'only count')
    .option('--json', 'print {"calls","changed","missing"}')
    .action(async ({ project, since, dryRun, json }: OfProject & { since: string; dryRun?: true }) => {
      const counts = await shell.inProject(project, ({ costs, now }, projectId) =>
        costs.apply(projectId, { since: timeOf(since, now()), isDryRun: dryRun ?? false }),
      )
      const verb = dryRun ? 'would change' : 'changed'
      await shell.answer(json, counts, [
        `Of ${counted(counts.calls, 'call')} without a cost of their platform, ${counts.changed} ${verb}.`,
        ...linesOf(counts.missing),
      ])
    })
}

function linesOf(missing: Record<string, number>): string[] {
  const names = Object.entries(missing)
  if (names.length === 0) return ['Every model has a price.']
  return ['Without a price:', ...names.map(([name, calls]) => `${name} (${counted(calls, 'call')})`)]
}

/** @throws invalid_request */
function timeOf(since: string, now: number): number {
  const time = readSince(since, now)
  if (time === null)
    throw invalidRequest([
      { field: '--since', message: 'must be a number of days such as 90d, or an ISO time' },
    ])
  return time
}
