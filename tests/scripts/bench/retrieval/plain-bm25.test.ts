import { expect, test } from 'bun:test'
import { searchByPlainBm25 } from '../../../../scripts/bench/retrieval/plain-bm25.ts'

const passages = [
  { doc_id: 'ships', title: 'Harbour', text: 'The ships are sailing to the harbour.' },
  { doc_id: 'bread', title: 'Bakery', text: 'We bake bread and "NEAR(" cakes.' },
]

test('finds any word of title or text in any form, and treats query syntax as text', () => {
  const questions = ['Which ship sails?', 'NEAR( bread* OR', 'harbour bakery'].map((query) => ({
    query,
    doc_id: '',
  }))
  const answers = searchByPlainBm25({ passages, questions })
  expect(answers.map(({ found }) => found)).toEqual([['ships'], ['bread'], ['ships', 'bread']])
  for (const { coverage } of answers) expect(coverage > 0 && coverage < 1).toBe(true)
})
