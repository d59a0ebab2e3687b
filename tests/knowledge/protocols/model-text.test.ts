import { expect, test } from 'bun:test'
import { toRecords } from '../../../src/knowledge/protocols/dify.ts'
import { mcpTools } from '../../../src/knowledge/protocols/mcp-tools.ts'
import { modelText } from '../../../src/knowledge/protocols/model-text.ts'
import { toDocument, toResult } from '../../../src/knowledge/protocols/vapi.ts'

const text = '---\ntitle: Reset\nredirect_from:\n  - /old\n---\n\nOpen the settings.\n\n---\na: b\n---\n'
const hit = {
  itemId: 'kn_1',
  name: 'Reset',
  heading: null,
  text,
  position: 0,
  score: 1,
  matched: { keyword: true, vector: true },
}

test('front matter is left out where a document begins, and nothing else', () => {
  const rest = 'Open the settings.\n\n---\na: b\n---\n'
  expect(modelText(hit)).toBe(rest)
  expect(modelText({ text: `\ufeff${text}`, position: 0 })).toBe(rest)
  expect(modelText({ text, position: 3 })).toBe(text)
  expect(modelText({ text: '---\nNo end of it.', position: 0 })).toBe('---\nNo end of it.')
  expect(modelText({ text: '---\ntitle: Alone\n---\n', position: 0 })).toBe('')
})

test('no protocol gives it to a model', async () => {
  const [search] = mcpTools(
    undefined as never,
    {
      search: async () => ({ answer: { data: [hit], mode: 'keyword', tookMs: 1 } }),
    } as never,
  )
  const found = await search?.call(1, { query: 'reset' })
  const [record] = toRecords([hit], { top_k: 1, score_threshold: 0 })
  const { result } = toResult({ id: '1', name: 'search', parameters: {} }, [hit])
  const given = [toDocument(hit).content, record?.content, result, JSON.stringify(found?.content)]
  for (const content of given) {
    expect(content).toContain('Open the settings.')
    expect(content).not.toContain('redirect_from')
  }
  // What programs get is the passage as it is.
  expect(found?.structuredContent).toMatchObject({ data: [{ text }] })
})
