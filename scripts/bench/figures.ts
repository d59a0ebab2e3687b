import type { Row } from './table.ts'

interface Figures {
  suite: { command: string; title: string; about: string; cases: readonly { name: string }[] }
  /** The rows of each case that has run. */
  figures: ReadonlyMap<string, readonly Row[]>
  /** The date and the machine of the measurement. */
  origin: string
}

/**
 * Writes the figures as a Markdown table between the markers of their suite, which it adds at the end if they are
 * missing. Rows of cases that were not run stay. Rows of cases that no longer exist are removed.
 */
export function writeFigures(text: string, { suite, figures, origin }: Figures): string {
  const [begin, end] = [`<!-- begin ${suite.command} -->`, `<!-- end ${suite.command} -->`]
  const [before = '', rest = ''] = text.split(begin)
  const [old = '', after = '\n'] = rest.split(end)
  const lines = suite.cases.flatMap(({ name }) => {
    const rows = figures.get(name)
    return rows
      ? rows.map((row) => tableRow(name, row, origin))
      : old.split('\n').filter((line) => line.startsWith(`| \`${name}\` `))
  })
  const block = [
    begin,
    `## ${suite.title}`,
    '',
    `\`bun run ${suite.command}\`: ${suite.about}`,
    '',
    '| case | what | measured | target | when and where |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
    end,
  ].join('\n')
  return `${before.trimEnd()}\n\n${block}${after}`
}

function tableRow(name: string, { what, measured, target, isMet }: Row, origin: string): string {
  const verdict = isMet === false ? `${target}: missed` : target
  const cells = [`\`${name}\``, what.replace(/^ +/, '… '), measured, verdict, origin]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
