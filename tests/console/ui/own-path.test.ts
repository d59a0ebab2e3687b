import { expect, test } from 'bun:test'
import { ownPath } from '../../../src/console/ui/own-path.ts'

test.each(['/p/prj_1', '/p/prj_1/calls?status=live#x'])('%s is a page to go back to', (path) => {
  expect(ownPath(path)).toBe(path)
})

test.each([
  'https://evil.example/p/1',
  '//evil.example/p/1',
  '/\\evil.example/p/1',
  '/\t/evil.example/p/',
  'javascript:alert(1)',
  '/p/../../docs',
  '/sign-in',
  'p/prj_1',
  '',
  null,
  7,
])('%p is not', (from) => {
  expect(ownPath(from)).toBeNull()
})
