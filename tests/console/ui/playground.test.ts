import { expect, test } from 'bun:test'
import { parseSearch, stringifySearch } from '../../../src/console/ui/search-params.ts'
import { splitSections } from '../../../src/console/ui/views/knowledge/split-sections.ts'
import { playgroundSearch } from '../../../src/console/ui/views/playground/playground-search.ts'
import { toCurl } from '../../../src/console/ui/views/playground/request.ts'
import { timeSegments } from '../../../src/console/ui/views/playground/time-segments.ts'

test('the curl line sends the same question, whatever characters it has', () => {
  const query = `it's "$HOME" \\ \n !`
  const line = toCurl('https://callbook.example', { query, limit: 3 })
  const body = Bun.spawnSync(['sh', '-c', line.replace(/^curl \S+/, 'printf "%s\\n"')])
    .stdout.toString()
    .split('\n')
    .at(-2)
  expect(JSON.parse(body ?? '')).toEqual({ query, limit: 3 })
  expect(line).toStartWith('curl https://callbook.example/v1/knowledge/search ')
})

test('only parameters that the service accepts are read from the address', () => {
  expect(
    playgroundSearch({ q: '7', mode: 'vector', limit: 51, timeoutMs: 10, items: ['kn_1', 2], other: 'x' }),
  ).toEqual({ q: '7', mode: 'vector', limit: undefined, timeoutMs: 10, items: ['kn_1'] })
  expect(playgroundSearch({ mode: 'hybrid', items: 'x y' })).toEqual({
    q: undefined,
    mode: undefined,
    limit: undefined,
    timeoutMs: undefined,
    items: undefined,
  })
})

test('a question comes back from the address as it went in', () => {
  const asked = { q: 'why?', mode: 'keyword', limit: 10, timeoutMs: 500, items: ['kn_1', 'kn_2'] } as const
  expect(playgroundSearch(parseSearch(stringifySearch(asked)))).toEqual({ ...asked, items: [...asked.items] })
})

test('a section that is split is named once, with its chunks', () => {
  const chunk = (heading: string | null, overlapCharacters: number) => ({ heading, overlapCharacters })
  expect(
    splitSections([
      chunk(null, 0),
      chunk('A', 0),
      chunk('A', 40),
      chunk('A', 40),
      chunk('B', 0),
      chunk('C', 0),
      chunk('C', 30),
    ]),
  ).toEqual([
    { heading: 'A', chunks: 3 },
    { heading: 'C', chunks: 2 },
  ])
  // Short sections merged into the beginning of a long one do not lend it their name.
  expect(splitSections([chunk('Short', 0), chunk('Long', 40)])).toEqual([{ heading: 'Long', chunks: 2 }])
  expect(splitSections([])).toEqual([])
})

test('what a search did side by side is drawn on two lines, at the times at which it ran', () => {
  const shares = { embedding: 4, vector: 2, keyword: 3, fusion: 2 }
  expect(timeSegments({ shares, starts: { keyword: 1, fusion: 8 }, tookMs: 10 })).toEqual([
    { name: 'embedding', line: 0, from: 0, width: 0.4 },
    { name: 'vector', line: 0, from: 0.4, width: 0.2 },
    { name: 'keyword', line: 1, from: 0.1, width: 0.3 },
    { name: 'fusion', line: null, from: 0.8, width: 0.2 },
  ])
  const keywordAlone = { embedding: 0, vector: 0, keyword: 1, fusion: 1 }
  const late = timeSegments({ shares: keywordAlone, starts: { keyword: 295, fusion: 299 }, tookMs: 300 })
  expect(late.map(({ name }) => name)).toEqual(['keyword', 'fusion'])
  for (const { from, width } of late) expect(from + width).toBeLessThanOrEqual(1)
})
