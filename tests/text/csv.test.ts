import { describe, expect, test } from 'bun:test'
import { parse } from 'papaparse'
import { csvLine } from '../../src/text/csv.ts'

const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠']
const startsFormula = /^\s*[=+@＝＋＠－-]/

describe('a cell', () => {
  test.each(signs)('that begins with %s is text to a spreadsheet', (sign) => {
    for (const start of ['', ' ', '\u00a0'])
      expect(csvLine([`${start}${sign}1+1`])).toBe(`'${start}${sign}1+1\r\n`)
    expect(csvLine([`\n${sign}1+1`])).toBe(`"'\n'${sign}1+1"\r\n`)
  })

  test('that begins with a tab is text', () => {
    expect(csvLine(['\tx', 'x\ty'])).toBe("'\tx,x\ty\r\n")
  })

  test('with a phone number stays one', () => {
    expect(csvLine(['+1-2', '+1--5550100044', '+-15550100044', '+555010'])).toBe(
      "'+1-2,'+1--5550100044,'+-15550100044,'+555010\r\n",
    )
    expect(csvLine(['+1 (555) 010-0044', '+49 30/123.456', '+1+1', '＋15550100044', '+1;2'])).toBe(
      "+1 (555) 010-0044,+49 30/123.456,'+1+1,'＋15550100044,'+1;2\r\n",
    )
  })

  test('that holds no formula stays as it is', () => {
    const cells = ['a-b', 'a = b', 'a@b.c', 'x; y', 'x;y-z', 'a\tb', 'Fri, -5', '', 'x\ny']
    expect(parse<string[]>(csvLine(cells), { delimiter: ',' }).data[0]).toEqual(cells)
  })

  // Excel takes the semicolon for its separator where the comma is the decimal sign; others may be told tabs.
  test.each([';', '\t'])('has no formula in a program that separates cells by %j', (delimiter) => {
    const befores = ['x;', 'x; ', 'x\t', 'x\n', 'x\r\n', 'x;"', 'x;""', '"x;"', 'x,\n"', 'x;\t', 'x;\n ;']
    for (const sign of signs) {
      for (const before of befores) {
        for (const after of ['1+1', '1;y', '1"', '1"";"y']) {
          const line = csvLine(['id', `${before}${sign}${after}`, 'end'])
          const cells = parse<string[]>(line, { delimiter }).data.flat()
          const formulas = cells.filter((cell) => startsFormula.test(cell))
          expect([before, sign, after, formulas]).toEqual([before, sign, after, []])
        }
      }
    }
  })

  test('of eight megabytes takes time in proportion to its size', () => {
    for (const part of ['\n', ';', '\t "', ' -', ';=', '\n\n"\n-']) {
      const cell = 'x'.concat(part.repeat(8_388_608 / part.length))
      expect(csvLine([cell]).length).toBeGreaterThan(8_000_000)
    }
  })
})
