import { expect, test } from 'bun:test'
import { frontMatterValue } from '../../../src/knowledge/chunking/front-matter.ts'
import { documentName } from '../../../src/knowledge/files/read-file.ts'

test('the name of a document is its heading, without what no name may contain', () => {
  expect(documentName('# Re\u200bfunds\tand returns\u202e\n\nText.')).toBe('Refunds and returns')
  expect(documentName('# \u200b\n\nText.')).toBeNull()
})

test('the title of its front matter, or the name, goes before a heading', () => {
  expect(documentName('---\nname: n\ntitle: Rates\n---\n# Heading')).toBe('Rates')
  expect(documentName('+++\nname = "Rates"\n+++\n# Heading')).toBe('Rates')
  expect(documentName('---\nlayout: x\n---\n# Heading')).toBe('Heading')
})

test.each([
  ['description: What it costs # a note', 'What it costs'],
  ['description: "a \\"b\\" # c"', 'a "b" # c'],
  ["description: 'it''s'", "it's"],
  ['description: >-\n  What it\n  costs\nlayout: x', 'What it costs'],
  ['description: What it\r\n  costs\r\nlayout: x', 'What it costs'],
  ['description: [a, b]', null],
  ['description:', null],
  ['layout: x', null],
  ['more:\n  description: inner', null],
])('a description is read from %p', (line, description) => {
  expect(frontMatterValue(`---\n${line}\n---\nText`, 'description')).toBe(description)
})

test('a comment goes on to the end of its line, in linear time', () => {
  // `.` does not match U+2028, so the end was looked for from every mark, and not found.
  const comment = `${' #'.repeat(20_000)}\u2028x`
  expect(frontMatterValue(`---\ndescription: What it costs${comment}\n---`, 'description')).toBe(
    'What it costs',
  )
})
