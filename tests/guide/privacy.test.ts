import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../support/process.ts'

const page = readFileSync(join(repository, 'src/guide/privacy.md'), 'utf8')

test('every line of what is stored where names tests that exist, or is the operator’s', () => {
  const [head = '', , ...rows] = page
    .split('\n')
    .filter((line) => line.startsWith('|') && cellsOf(line).length === 4)
  expect(cellsOf(head)).toEqual(['what', 'where', 'deleted by, and when', 'shown by'])
  expect(rows.length).toBeGreaterThan(10)
  for (const row of rows) {
    const [what, , , shownBy = ''] = cellsOf(row)
    const names = shownBy.split(', ').map((name) => name.replaceAll('`', ''))
    const unknown = names.filter((name) => name !== 'operator' && !existsSync(join(repository, name)))
    expect({ what, unknown }).toEqual({ what, unknown: [] })
  }
})

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}
