import type { Suite } from './runner.ts'
import type { Row } from './table.ts'

interface Figures {
  suite: Omit<Suite, 'cases'> & { cases: { name: string }[] }
  /** The rows of each case that was run. */
  figures: ReadonlyMap<string, readonly Row[]>
  /** When and on what they were measured. */
  origin: string
}

/**
 * The text with these figures as a Markdown table between the markers of their suite, which are added at the end if
 * they are missing. Rows of cases that were not run stay as they are, those of cases that are gone go.
 */
export function writeFigures(text: string, { suite, figures, origin }: Figures): string {
  const [begin, end] = [`<!-- begin ${suite.command} -->`, `<!-- end ${suite.command} -->`]
  const [before = '', rest = ''] = text.split(begin)
  const [old = '', after = '\n'] = rest.split(end)
  const lines = suite.cases.flatMap(({ name }) => {
    const rows = figures.get(name)
    return rows
      ? rows.map((row) => tableRow(name, row, origin))
      : old.split('\n').filter((line) => line.startsWith(`| \`${name}\` |`))
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
  const judged = isMet === false ? `${target}: missed` : target
  const cells = [`\`${name}\``, what.replace(/^ +/, '… '), measured, judged, origin]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
