import Papa from 'papaparse'
import { decodeAny } from './decode.ts'
import { type Converted, unreadable } from './file-text.ts'

/** Tells Excel what stands between the values. */
const separatorPattern = /^"?sep=([^\r\n"])"?(?:\r\n|\r|\n)/i

/**
 * A table as a list: one line per row. Each value has the name of its column, so that a row can be understood alone.
 */
export function readCsv(bytes: Uint8Array): Converted {
  const all = decodeAny(bytes)
  const [separatorLine = '', delimiter] = separatorPattern.exec(all) ?? []
  const { data, errors } = Papa.parse<string[]>(all.slice(separatorLine.length), {
    skipEmptyLines: 'greedy',
    ...(delimiter ? { delimiter } : {}),
  })
  const broken = errors.find(({ code }) => code === 'MissingQuotes')
  if (broken) throw unreadable(`The quotes of row ${(broken.row ?? 0) + 1} are not closed.`)
  const [header = [], ...rows] = data
  const text = rows.map((row) => toLine(header, row)).join('\n')
  // A table of one row has only a header.
  return { title: null, description: null, text: rows.length === 0 ? toLine([], header) : text }
}

function toLine(header: readonly string[], row: readonly string[]): string {
  const values = row.flatMap((cell, column) => {
    const value = onOneLine(cell)
    const name = onOneLine(header[column] ?? '')
    if (value === '') return []
    return name === '' ? value : `${name}: ${value}`
  })
  return `- ${values.join('; ')}`
}

function onOneLine(cell: string): string {
  return cell.replace(/\s+/g, ' ').trim()
}
