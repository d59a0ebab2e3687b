import { describe, expect, test } from 'bun:test'
import { nameOf, readDocument } from '../../../src/console/ui/views/knowledge/documents.ts'

describe('a dropped document', () => {
  test('is named by its first heading of any level', () => {
    expect(nameOf('a.md', 'Intro\n\n### Refunds ###\n\n# Later')).toBe('Refunds')
  })

  test('is named by its file when it has no heading', () => {
    expect(nameOf('opening hours.txt', 'We open at nine.')).toBe('opening hours')
    expect(nameOf('.md', 'text')).toBe('.md')
  })

  test('does not take a comment in a code block for a heading', () => {
    expect(nameOf('a.md', '```sh\n# install\n```\n# Real')).toBe('Real')
    expect(nameOf('a.md', '~~~\n# never closed\n')).toBe('a')
  })

  test('has a name of at most 200 characters, cut between code points', () => {
    expect([...nameOf('a.md', `# ${'😀'.repeat(300)}`)]).toHaveLength(200)
  })

  test('keeps its text unchanged', async () => {
    const text = '# Title\r\n\r\n  text  \n'
    expect(await readDocument(new File([text], 'a.MD'))).toEqual({ name: 'Title', text })
  })

  test.each([
    ['of another kind', new File(['x'], 'a.pdf'), 'Only .md and .txt files can be read.'],
    ['that is empty', new File([' \n'], 'a.md'), 'The file is empty.'],
    ['that is not UTF-8', new File([new Uint8Array([0x63, 0xe9])], 'a.txt'), 'The file is not UTF-8 text.'],
  ])('%s is refused in a sentence', async (_, file, message) => {
    expect(await readDocument(file).catch((error) => error.message)).toBe(message)
  })
})
