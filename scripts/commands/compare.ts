import type { Command } from 'commander'
import type { Comparison } from '../../src/calls/figures/comparing/schemas.ts'
import { readParameters } from '../../src/http/parameters.ts'
import { type OfProject, projectOption } from './options.ts'
import { columns, shown } from './sentences.ts'
import type { Shell } from './shell.ts'

interface Options extends OfProject {
  a?: string
  b?: string
  by?: string
  against?: string
  of?: string
}

export function addCompareCommand(program: Command, shell: Shell): void {
  program
    .command('compare')
    .description(
      'Compare two groups of completed calls, or the calls of each value of a filter with those of one. ' +
        'The first figure is the question: it is wrong in 1 of 20 comparisons of equals, and so are the others together.',
    )
    .requiredOption(...projectOption)
    .option('--a <query>', 'the calls of a, such as "agentVersion=v13"')
    .option('--b <query>', 'the calls of b')
    .option('--by <filter>', 'agentVersion, agentId or source')
    .option('--against <value>', 'the value that the others are compared with')
    .option('--of <list>', 'figures with commas, such as success,latencyMs.p95')
    .option('--json', 'print the answer of GET /v1/compare')
    .action(async ({ project, json, a, b, ...asked }: Options) => {
      const query = { ...asked, ...prefixed('a.', a), ...prefixed('b.', b) }
      const answer = await shell.inProject(project, ({ comparing }, projectId) =>
        comparing.read(projectId, query),
      )
      const head = ['B', 'FIGURE', 'OF A', 'OF B', 'DIFFERENCE', 'FROM', 'TO', 'VERDICT', 'MORE CALLS']
      await shell.answer(json, answer, columns([head, ...rowsOf(answer)]))
    })
}

function prefixed(prefix: string, query = ''): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(readParameters(`?${query}`)).map(([name, texts]) => [prefix + name, texts]),
  )
}

function rowsOf({ comparisons }: Comparison): string[][] {
  const rounded = (value: number | null) => (value === null ? '' : String(Number(value.toPrecision(4))))
  return comparisons.flatMap(({ key, b, metrics }) =>
    metrics.map(({ of, verdict, reason, moreCalls, ...metric }) => [
      `${shown(key ?? 'b')} (${b.calls})`,
      of,
      ...[metric.a.value, metric.b.value, metric.difference, metric.low, metric.high].map(rounded),
      reason ? `not sure: ${reason}` : verdict,
      moreCalls === null ? '' : `about ${moreCalls}`,
    ]),
  )
}
