import { expect, test } from 'bun:test'
import { documentName } from '../../../src/knowledge/chunking/document-name.ts'

test('the name of an imported document is its heading, without what no name may contain', () => {
  expect(documentName('# Re\u200bfunds\tand returns\u202e\n\nText.')).toBe('Refunds and returns')
  expect(documentName('# \u200b\n\nText.')).toBeNull()
})
