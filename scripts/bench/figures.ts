/** One line of a table. */
export interface Row {
  what: string
  measured: string
  target: string
  /** Null for a figure that is only reported. */
  isMet: boolean | null
}

export function row(what: string, measured: string, target = 'reported', isMet: boolean | null = null): Row {
  return { what, measured, target, isMet }
}

/** A figure that must not exceed `most`. */
export function atMost(what: string, value: number, most: number, unit: string, more = ''): Row {
  return row(what, `${formatCount(value)} ${unit}${more}`, `≤ ${formatCount(most)} ${unit}`, value <= most)
}

export function formatCount(value: number): string {
  if (Number.isInteger(value) && value < 1_000) return String(value)
  return value >= 1_000
    ? Math.round(value).toLocaleString('en')
    : value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2)
}

export function printRow({ what, measured, target, isMet }: Row): void {
  const verdict = isMet === null ? '      ' : isMet ? 'ok    ' : 'MISSED'
  process.stdout.write(`${verdict}  ${what.padEnd(58)}  ${target.padEnd(20)}  ${measured}\n`)
}

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
      ? rows.map((each) => tableRow(name, each, origin))
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
