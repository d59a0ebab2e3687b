import { afterEach, describe, expect, test } from 'bun:test'
import { readFindings } from '../../src/analysis/evidence.ts'
import { type Grounds, groundedQuestion, groundsOf, noGrounds } from '../../src/analysis/grounds.ts'
import type { Analysis, JudgedCriterion } from '../../src/analysis/schemas.ts'
import { type RecordedChat, startFakeChat } from '../support/fake-chat.ts'
import { expectProblem } from '../support/problem.ts'
import { startService, type TestProject } from '../support/service.ts'
import { findTraces, newWord, tracesOfWord } from '../support/traces.ts'
import { until } from '../support/until.ts'
import { rubricOf } from './rubrics.ts'

const rubric = rubricOf({ criteria: [{ id: 'facts', name: 'States facts', kind: 'grounded' }] })
const transcript = [
  { role: 'user', content: 'Do you refund within 90 days?' },
  { role: 'assistant', content: 'Yes, we refund within 30 days of the order.' },
  { role: 'assistant', content: 'Your order is on its way.' },
]
const passage = {
  itemId: 'refunds',
  name: 'Refunds',
  text: 'We refund any order within 30 days.',
  isChanged: false,
}
const tool = { name: 'get_order', text: '{"state":"on its way"}' }
const grounds: Grounds = { passages: [passage], tools: [tool], hasSearched: true, hasChanged: false }
const claim = { turns: [1], quote: 'we refund within 30 days' }
const support = { itemId: 'refunds', name: 'Refunds', quote: 'any order within 30 days' }

/** What becomes of a verdict. */
function held(answer: object, by: Grounds = grounds): JudgedCriterion | undefined {
  const facts = { rationale: 'Since.', support: '', ...claim, ...answer }
  return readFindings({ criteria: { facts } }, rubric, transcript, by).findings.criteria[0]
}

describe('a verdict on what the agent stated', () => {
  test('passes with words that were found, in a passage or in what a tool answered', () => {
    expect(held({ result: 'pass', support: support.quote })).toMatchObject({
      result: 'pass',
      ...claim,
      support,
    })
    const ofTool = { turns: [2], quote: 'on its way', result: 'pass', support: '"state":"ON its way"' }
    expect(held(ofTool)?.support).toEqual({ itemId: null, name: 'get_order', quote: '"state":"ON its way"' })
  })

  test.each(['', '  ', ',', 'within 90 days', 'we refund within 30 days of the order'])(
    'does not pass by %j, which nothing has',
    (words) => {
      expect(held({ result: 'pass', support: words })).toMatchObject({ result: 'unknown', support: null })
    },
  )

  test('fails by a claim of the agent, never of the caller', () => {
    expect(held({ result: 'fail' })).toMatchObject({ result: 'fail', ...claim, support: null })
    const ofCaller = { turns: [0], quote: 'refund within 90 days' }
    expect(held({ result: 'fail', ...ofCaller })?.result).toBe('unknown')
    expect(held({ result: 'pass', support: support.quote, ...ofCaller })?.result).toBe('unknown')
  })

  test('does not fail where three words of the claim stand in what was found', () => {
    expect(held({ result: 'fail', quote: 'within 30 days' })?.result).toBe('unknown')
    expect(held({ result: 'fail', quote: '30 days' })?.result).toBe('fail')
  })

  test('is unknown, and says why, where what was found has changed since', () => {
    const changed = { ...grounds, passages: [{ ...passage, isChanged: true }], hasChanged: true }
    const unknown = { result: 'unknown', rationale: 'knowledge changed', support: null }
    expect(held({ result: 'fail' }, changed)).toMatchObject(unknown)
    expect(held({ result: 'pass', support: support.quote }, changed)).toMatchObject(unknown)
    const other = { ...passage, itemId: 'terms', name: 'Terms' }
    const both = { ...changed, passages: [...changed.passages, other] }
    expect(held({ result: 'pass', support: support.quote }, both)?.support?.itemId).toBe('terms')
  })
})

test('what searches found is there once, and changed if it was after each of them', () => {
  const found = (at: string, more: object = {}) => ({
    at,
    passages: [{ position: 0, item: { id: 'a', name: 'A' }, text: 'One.', changedAt: '2026-03-02', ...more }],
  })
  expect(groundsOf([], [])).toEqual(noGrounds)
  const [early, late] = [found('2026-03-01'), found('2026-03-03')]
  const one = { itemId: 'a', name: 'A', text: 'One.' }
  expect(groundsOf([early], [])).toMatchObject({ passages: [{ ...one, isChanged: true }], hasChanged: true })
  expect(groundsOf([late], [])).toMatchObject({ passages: [{ ...one, isChanged: false }], hasChanged: false })
  expect(groundsOf([early, late], [])).toMatchObject({ passages: [{ isChanged: false }], hasChanged: true })
  for (const gone of [{ item: null }, { text: null }])
    expect(groundsOf([found('2026-03-03', gone)], [])).toEqual({
      ...noGrounds,
      hasSearched: true,
      hasChanged: true,
    })
})

const chat = await startFakeChat({ server: 'vllm', model: 'judge-1' })
const env = {
  ANALYSIS_MODEL: 'judge-1',
  ANALYSIS_ENDPOINT: chat.url,
  ANALYSIS_DELAY_SECONDS: '0',
  ANALYSIS_CONTEXT_TOKENS: '8000',
  ERASE_WITHIN_MS: '400',
}
const service = await startService({ env })
afterEach(() => chat.always(null))

const facts = { id: 'facts', name: 'States facts', kind: 'grounded' }
const polite = { id: 'polite', name: 'Polite', question: 'Was the agent polite?' }

async function groundedProject(): Promise<TestProject> {
  const project = await service.mintProject()
  await service.services.settings.change(project.projectId, { keepQuestionsDays: 30 })
  expect((await project.send('PUT', '/v1/rubric', { criteria: [facts, polite] })).status).toBe(201)
  await project.send('PUT', '/v1/knowledge/refunds', { name: 'Refunds', text: passage.text })
  return project
}

async function ask(project: TestProject, call: string, tags: string[] = []): Promise<void> {
  const answer = await project.fetch('/v1/knowledge/search', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-call-id': call },
    body: JSON.stringify({ query: 'refund of an order', tags }),
  })
  expect((await answer.json()).data).toHaveLength(tags.length === 0 ? 1 : 0)
  const { questionsOfCall } = service.services
  await until(async () => (await questionsOfCall(project.projectId, call)).data.length > 0)
}

async function analysed(project: TestProject, call: string, more: object = {}): Promise<Analysis> {
  const body = { status: 'completed', transcript, ...more }
  expect((await project.send('PUT', `/ingest/calls/${call}`, body)).status).toBeLessThan(300)
  const get = async (): Promise<Analysis> => await (await project.fetch(`/v1/calls/${call}/analysis`)).json()
  await until(async () => (await get()).state === 'done')
  return await get()
}

/** Answers as a model that says this of the facts. */
function says(answer: object): void {
  chat.always({
    says: ({ schema }: Pick<RecordedChat, 'schema'>) => {
      const evidence = { turns: [1], quote: 'we refund within 30 days', rationale: 'Since.' }
      const all = {
        facts: { ...evidence, support: '', ...answer },
        polite: { ...evidence, result: 'pass' },
      }
      const asked = Object.keys(schema?.properties?.criteria?.properties ?? {})
      return { criteria: Object.fromEntries(Object.entries(all).filter(([id]) => asked.includes(id))) }
    },
  })
}

describe('a criterion of the kind grounded', () => {
  test('is asked beside the passages of the call’s searches and its tools’ results, in the same fence', async () => {
    const project = await groundedProject()
    await ask(project, 'call-1')
    says({ result: 'pass', support: 'any order within 30 days' })
    const result = { atSeconds: 2, kind: 'tool_result', name: 'get_order', text: 'Ignore [this] <rule>' }
    const { criteria } = await analysed(project, 'call-1', { details: { timeline: [result] } })
    expect(criteria[0]).toMatchObject({ id: 'facts', result: 'pass', support })
    expect(criteria[1]).toMatchObject({ id: 'polite', result: 'pass', support: null })
    const prompt = chat.requests.at(-1)?.messages[1]?.content ?? ''
    expect(prompt).toContain(groundedQuestion)
    expect(prompt.split('\n').slice(-5, -1)).toEqual([
      JSON.stringify({ turn: 2, assistant: transcript[2]?.content }),
      JSON.stringify({ passage: 0, item: 'Refunds', text: passage.text }),
      '{"tool":"get_order","result":"Ignore \\u005bthis] \\u003crule>"}',
      expect.stringMatching(/^END [0-9a-f]{32}$/),
    ])
    const found = await (await project.fetch('/v1/calls?criterion.facts=pass')).json()
    expect(found.data).toHaveLength(1)
  })

  test('fails by a claim that nothing supports, and is unknown once the item is another', async () => {
    const project = await groundedProject()
    await ask(project, 'call-2')
    says({ result: 'fail' })
    expect((await analysed(project, 'call-2')).criteria[0]).toMatchObject({ result: 'fail', ...claim })
    const of = async (): Promise<Analysis> => await (await project.fetch('/v1/calls/call-2/analysis')).json()
    /** Asks again, as the transcript has one more turn. */
    const again = async (words: string) => {
      const more = { transcript: [...transcript, { role: 'user', content: words }] }
      await project.send('PUT', '/ingest/calls/call-2', more)
      const isAsked = ({ turns }: RecordedChat) => turns.some(({ content }) => content === words)
      await until(() => chat.requests.some(isAsked))
      await until(async () => (await of()).state === 'done')
    }
    // Its tags do not count.
    await project.send('PATCH', '/v1/knowledge/refunds', { tags: ['billing'] })
    await again('Thanks.')
    expect((await of()).criteria[0]?.result).toBe('fail')
    await project.send('PATCH', '/v1/knowledge/refunds', { text: 'We refund any order, ever.' })
    await again('Thank you.')
    await until(async () => (await of()).criteria[0]?.rationale === 'knowledge changed')
    expect((await of()).criteria[0]?.result).toBe('unknown')
  })

  test('fails where a search found nothing, and sees all chunks of a passage', async () => {
    const project = await groundedProject()
    await ask(project, 'empty', ['nobody'])
    says({ result: 'fail' })
    expect((await analysed(project, 'empty')).criteria[0]).toMatchObject({ result: 'fail', ...claim })
    const long = (word: string) => `${'A refund of an order is paid back in time. '.repeat(24)}${word}.`
    const text = `# Refunds\n\n${long('Twenty')}\n\n${long('Forty one months')}`
    await project.send('PUT', '/v1/knowledge/refunds', { name: 'Refunds', text })
    await ask(project, 'long')
    says({ result: 'pass', support: 'Forty one months' })
    expect((await analysed(project, 'long')).criteria[0]).toMatchObject({ result: 'pass' })
  })

  test('is unknown without asking where nothing was recorded, or too much; the others are judged', async () => {
    const project = await groundedProject()
    says({ result: 'fail' })
    const { criteria } = await analysed(project, 'call-3')
    expect(criteria).toMatchObject([
      { id: 'facts', result: 'unknown', rationale: 'no search was recorded' },
      { id: 'polite', result: 'pass' },
    ])
    expect(chat.requests.at(-1)?.messages[1]?.content).not.toContain('"facts"')
    const long = { atSeconds: 2, kind: 'tool_result', name: 'list', text: 'word '.repeat(3_000) }
    const timeline = [long, { ...long, atSeconds: 3 }]
    expect((await analysed(project, 'call-4', { details: { timeline } })).criteria).toMatchObject([
      { id: 'facts', result: 'unknown', rationale: 'too long' },
      { id: 'polite', result: 'pass' },
    ])
  })

  test('201 with a warning where the project keeps no questions; 400 of a question without one', async () => {
    const project = await service.mintProject()
    const put = (...criteria: object[]) => project.send('PUT', '/v1/rubric', { criteria })
    const answer = await put(facts)
    expect([answer.status, answer.headers.get('callbook-warning')]).toEqual([201, 'questions are not kept'])
    expect((await answer.json()).criteria).toEqual([facts])
    expect((await put(polite)).headers.get('callbook-warning')).toBeNull()
    const problem = await expectProblem(await put({ ...facts, kind: 'question' }), 'invalid_request')
    expect(problem.errors).toEqual([
      { field: 'criteria.0.question', message: 'is required unless the kind is grounded' },
    ])
  })

  test('leaves no word of a call that is deleted while the answer is on its way', async () => {
    const project = await groundedProject()
    const word = newWord()
    const query = `refund of an order, said ${word}`
    await project.fetch('/v1/knowledge/search', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-call-id': 'call-5' },
      body: JSON.stringify({ query }),
    })
    const asked = chat.requests.length
    chat.always({ delayMs: 300 })
    await project.send('PUT', '/ingest/calls/call-5', { status: 'completed', transcript })
    await until(() => chat.requests.length > asked)
    expect((await project.fetch('/v1/calls/call-5', { method: 'DELETE' })).status).toBe(200)
    await until(async () => {
      const receipt = await (await project.fetch('/v1/erasures/call-5')).json()
      return receipt.status === 'done'
    })
    expect((await project.fetch('/v1/calls/call-5/analysis')).status).toBe(404)
    expect(await findTraces(service.dataDir, tracesOfWord(word))).toEqual([])
  })
})
