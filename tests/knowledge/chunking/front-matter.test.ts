import { expect, test } from 'bun:test'
import { frontMatterQuestions, frontMatterTags } from '../../../src/knowledge/chunking/front-matter.ts'

const yaml = (lines: string) => `---\n${lines}\n---\n\nText.`

test.each<[string, string[] | undefined]>([
  [yaml('tags: [b, "A b", \'c\'] # said here'), ['a-b', 'b', 'c']],
  [yaml('tags: [\n  a, # one\n  b\n]\ntitle: T'), ['a', 'b']],
  [yaml('tags:\n  - Billing\n\n  # and\n  - eu\ntitle: - no'), ['billing', 'eu']],
  [yaml('tags:\n- a\n- a'), ['a']],
  [yaml('tags: billing, EU  West'), ['billing', 'eu-west']],
  ['+++\ntags = [\n  "x",\n  "y, z",\n]\n+++\n\nText.', ['x']],
  [yaml('tags: []'), []],
  [yaml('tags:'), undefined],
  [yaml('tags: ~'), undefined],
  [yaml('tags: null'), undefined],
  [yaml('tags:\n  - a\n  -\n  - b'), ['a', 'b']],
  [yaml('tags:\n- a\n-\n- b'), ['a', 'b']],
  [yaml('tags:\n  [a,\n   b]'), ['a', 'b']],
  [yaml('tags: [Billing, eu # note, said\n , x#1]'), ['billing', 'eu']],
  [yaml('title: T'), undefined],
  ['tags: [a]\n\nText.', undefined],
])('%j has the tags %j', (text, tags) => {
  expect(frontMatterTags(text).tags).toEqual(tags as string[])
})

test('what is no tag, or is beyond twenty, is left out and told', () => {
  const { tags, warnings } = frontMatterTags(
    yaml(`tags: [${Array.from({ length: 21 }, (_, n) => n + 10)}, é]`),
  )
  expect(tags).toHaveLength(20)
  expect(warnings).toEqual([
    '"é" is no tag, and was left out',
    '30 is beyond the 20 tags that an item has, and was left out',
  ])
})

test('questions are whole texts, at most ten, each of at most 2,000 characters', () => {
  const one = frontMatterQuestions(yaml('questions: Who pays, and when?'))
  expect(one).toEqual({ questions: ['Who pays, and when?'], warnings: [] })
  const lines = ['- "A, b: c?"', '- A question', '  that goes on', `- ${'x'.repeat(2_001)}`]
  const more = Array.from({ length: 9 }, (_, n) => `- Question ${n}`)
  const { questions, warnings } = frontMatterQuestions(yaml(`questions:\n${[...lines, ...more].join('\n')}`))
  expect(questions.slice(0, 3)).toEqual(['A, b: c?', 'A question that goes on', 'Question 0'])
  expect(questions).toHaveLength(10)
  expect(warnings).toEqual([
    'A question has more than 2000 characters, and was left out',
    'A file has at most 10 questions: "Question 8" was left out',
  ])
})
