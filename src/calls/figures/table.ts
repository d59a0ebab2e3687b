import { byteOrderMark, csvLine } from '../../text/csv.ts'
import type { FiguresOfCalls } from './figures.ts'

/** The figures as CSV: `key`, or both keys under the names of what they group by, `value` and `calls`. */
export function tableOf({ by, data }: FiguresOfCalls, { hasMark = false } = {}): string {
  const [first = '', ...second] = by?.split(',') ?? []
  const names = second.length > 0 ? [first, ...second] : ['key']
  const lines = data.map(({ key = null, keys = [key], value, calls }) => csvLine([...keys, value, calls]))
  return [hasMark ? byteOrderMark : '', csvLine([...names, 'value', 'calls']), ...lines].join('')
}
