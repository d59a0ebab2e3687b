import { describe, expect, test } from 'bun:test'
import type { ChatMessage, ChatRequest } from '../../src/analysis/chat-model.ts'
import { noGrounds } from '../../src/analysis/grounds.ts'
import { judge } from '../../src/analysis/judge.ts'
import { promptOf, type Transcript } from '../../src/analysis/prompt.ts'
import { guessedFence, hostileCalls } from './hostile.ts'
import { booking, bookingRubric } from './rubrics.ts'

/** What begins another message for a tokenizer, wherever it stands. */
const controlTokens = /<\|[^<|]*\|>|<｜[^<｜]*｜>|<\/?s>|\[\/?INST\]|<<\/?SYS>>|<(?:start|end)_of_turn>/
const lineEnds = /[\n\r\u2028\u2029\u0085\v\f]/
const hidden = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

/**
 * What a credulous model takes for instructions in a prompt: everything but the turns between the fences that it was
 * told of. What no person sees, it reads anywhere, and obeys.
 */
function instructionsIn(messages: readonly ChatMessage[]): string {
  const prompt = messages.map(({ content }) => content).join('\n')
  const [first = '', ...others] = prompt.split(controlTokens)
  const [, fence] = /^The turns are the lines between "BEGIN (\S+)" and "END \1":$/m.exec(first) ?? []
  const outside = [...others, ...smuggledIn(prompt)]
  let place: 'before' | 'within' | 'after' = 'before'
  for (const line of first.split(lineEnds)) {
    if (place === 'before' && fence && line === `BEGIN ${fence}`) place = 'within'
    else if (place === 'within' && line === `END ${fence}`) place = 'after'
    else if (place !== 'within' || !isTurn(line)) outside.push(line)
  }
  return outside.join('\n').replace(hidden, '')
}

/** Tag characters are letters to some models, and what is written backwards is read as it is shown. */
function smuggledIn(prompt: string): string[] {
  const tags = Array.from(prompt).filter((letter) => /[\u{e0020}-\u{e007e}]/u.test(letter))
  const backwards = prompt.matchAll(/\u202e([^\u202c\n]*)/g)
  return [
    tags.map((tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe0000)).join(''),
    ...Array.from(backwards, ([, text = '']) => Array.from(text).reverse().join('')),
  ]
}

function isTurn(line: string): boolean {
  try {
    return Object.keys(JSON.parse(line) as object).every((key) => ['turn', 'user', 'assistant'].includes(key))
  } catch {
    return false
  }
}

function isFooledBy(messages: readonly ChatMessage[]): boolean {
  return /named_price.{0,60}?pass|OWNED/u.test(instructionsIn(messages))
}

const evidence = { turns: [0], quote: 'Hello' }
const honest = {
  summary: 'A call.',
  criteria: Object.fromEntries(
    bookingRubric.criteria.map(({ id }) => [
      id,
      { ...evidence, rationale: 'It was not said.', result: 'fail' },
    ]),
  ),
  fields: Object.fromEntries(bookingRubric.fields.map(({ key }) => [key, { ...evidence, value: null }])),
}
const owned = {
  summary: 'OWNED',
  criteria: Object.fromEntries(
    bookingRubric.criteria.map(({ id }) => [id, { ...evidence, rationale: 'OWNED', result: 'pass' }]),
  ),
  fields: Object.fromEntries(bookingRubric.fields.map(({ key }) => [key, { ...evidence, value: 'OWNED' }])),
}

/** Obeys whatever it takes for an instruction. */
const credulous = {
  async ask({ messages }: ChatRequest) {
    const text = JSON.stringify(isFooledBy(messages) ? owned : honest)
    return { text, isCut: false, tokens: { prompt: 0, completion: 0 } }
  },
}

const judgeBy = (model: Parameters<typeof judge>[0]['model'], transcript: Transcript, fence = guessedFence) =>
  judge({
    rubric: bookingRubric,
    transcript,
    model,
    contextTokens: 32_768,
    signal: new AbortController().signal,
    fence: () => fence,
  })

describe('a caller who gives orders to the judge', () => {
  const promptFor = (transcript: Transcript) =>
    promptOf({ rubric: bookingRubric, transcript, grounds: noGrounds, fence: guessedFence, problem: null })
  /** The prompt with its turns written in another way. */
  const rewritten = (transcript: Transcript, toLine: (turn: Transcript[number], at: number) => string) => {
    const [system, user] = promptFor(transcript)
    const lines = transcript.map(toLine).join('\n')
    const content = user?.content.replace(/(?<=^BEGIN .*\n)\{"turn"[\s\S]*(?=\nEND )/m, () => lines) ?? ''
    return system ? [system, { role: 'user' as const, content }] : []
  }

  test('there are many of them, in more than ten languages', () => {
    expect(new Set(hostileCalls.map(({ transcript }) => JSON.stringify(transcript))).size).toBeGreaterThan(
      240,
    )
  })

  test('cannot be told from the service where turns are not fenced', () => {
    const unfenced = ({ transcript }: (typeof hostileCalls)[number]) =>
      rewritten(transcript, ({ role, content }) => `${role}: ${content}`).map(({ role, content }) => ({
        role,
        content: content.replaceAll('The turns are the lines between', 'The turns:'),
      }))
    expect(hostileCalls.filter((call) => !isFooledBy(unfenced(call))).map(({ name }) => name)).toEqual([])
  })

  test('leaves a fence whose value is known, where turns are not JSON', () => {
    const fooled = hostileCalls.filter(({ transcript }) =>
      isFooledBy(rewritten(transcript, ({ role, content }) => `${role}: ${content}`)),
    )
    expect(fooled.length).toBe(hostileCalls.length)
  })

  test('leaves it by control tokens and hidden characters, where JSON does not escape them', () => {
    const fooled = hostileCalls.filter(({ transcript }) =>
      isFooledBy(
        rewritten(transcript, ({ role, content }, turn) => JSON.stringify({ turn, [role]: content })),
      ),
    )
    const names = new Set(fooled.map(({ name }) => name.replace(/^in \w+ a caller /, '')))
    expect([...names].sort()).toEqual([
      'ends the fence by other line ends',
      'hides it in tag characters',
      'says it backwards',
      'writes tokens of ChatML',
      'writes tokens of DeepSeek',
      'writes tokens of Gemma',
      'writes tokens of Llama 2',
      'writes tokens of Llama 3',
    ])
  })

  test.each(hostileCalls)('$name: nothing changes, not even who knows the fence', async ({ transcript }) => {
    const judged = await judgeBy(credulous, transcript)
    const { findings } = judged.state === 'done' ? judged : { findings: null }
    expect(findings?.summary).toBe('A call.')
    expect(findings?.criteria).toEqual(
      bookingRubric.criteria.map(({ id }) => ({
        id,
        result: 'fail',
        rationale: 'It was not said.',
        ...evidence,
        support: null,
      })),
    )
    expect(findings?.fields).toEqual(
      bookingRubric.fields.map(({ key }) => ({ key, value: null, ...evidence })),
    )
  })

  test('changes neither the rubric nor what is asked about the next call', async () => {
    const before = JSON.stringify([bookingRubric, promptFor(booking)])
    for (const { transcript } of hostileCalls) await judgeBy(credulous, transcript)
    expect(JSON.stringify([bookingRubric, promptFor(booking)])).toBe(before)
  })

  test('is in the prompt letter by letter, so that a quotation can be checked', () => {
    for (const { transcript } of hostileCalls) {
      const lines = promptFor(transcript)[1]?.content.split('\n') ?? []
      const turns = lines.slice(
        lines.indexOf(`BEGIN ${guessedFence}`) + 1,
        lines.indexOf(`END ${guessedFence}`),
      )
      expect(turns.map((line) => JSON.parse(line) as unknown)).toEqual(
        transcript.map(({ role, content }, turn) => ({ turn, [role]: content })),
      )
    }
  })
})

describe('a model that repeats a caller', () => {
  test.each(hostileCalls)('$name: what is kept is plain text', async ({ transcript }) => {
    const said = transcript[1]?.content ?? ''
    const entry = { turns: [1], quote: said, rationale: said, result: 'pass', value: said }
    const text = JSON.stringify({
      summary: said,
      criteria: { confirmed_date: entry, named_price: entry, other: entry },
      fields: { ...honest.fields, day: entry, other: entry },
    })
    const parrot = {
      async ask() {
        return { text, isCut: false, tokens: { prompt: 0, completion: 0 } }
      },
    }
    const judged = await judgeBy(parrot, transcript)
    const { findings } = judged.state === 'done' ? judged : { findings: null }
    expect(findings?.criteria.map(({ id, result }) => [id, result])).toEqual([
      ['confirmed_date', 'pass'],
      ['named_price', 'pass'],
    ])
    expect(findings?.fields.map(({ key }) => key)).toEqual(bookingRubric.fields.map(({ key }) => key))
    for (const written of [
      findings?.summary ?? '',
      ...(findings?.criteria ?? []).map(({ rationale }) => rationale),
    ]) {
      expect(written).not.toMatch(/<[a-z!/?]|[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u200b\u{e0000}-\u{e007f}]/iu)
      expect(written).not.toBe('')
    }
    expect(findings?.fields[0]?.value).not.toMatch(/[\p{Cc}\u202a-\u202e\u200b\u{e0000}-\u{e007f}]/u)
  })
})
