import { describe, expect, test } from 'bun:test'
import { readFindings } from '../../src/analysis/evidence.ts'
import fc from '../support/fast-check.ts'
import { booking, bookingRubric, rubricOf } from './rubrics.ts'

const one = rubricOf({
  criteria: [{ id: 'it', name: 'It', question: 'Is it?' }],
  fields: [{ key: 'what', type: 'string', description: 'What it is.' }],
})

/** What becomes of a verdict and a value that rest on this. */
function findingsOf(turns: unknown, quote: unknown, transcript = booking) {
  const answer = {
    criteria: { it: { turns, quote, rationale: 'Since it is.', result: 'pass' } },
    fields: { what: { turns, quote, value: 'a thing' } },
  }
  const { findings, problems } = readFindings(answer, one, transcript)
  return { problems, criterion: findings.criteria[0], field: findings.fields[0] }
}

const unsupported: object = {
  criterion: { id: 'it', result: 'unknown', rationale: 'Since it is.', turns: [], quote: '', support: null },
  field: { key: 'what', value: null, turns: [], quote: '' },
}

describe('a quotation', () => {
  test.each([
    [[3], 'Friday at TEN, that works.'],
    [[1, 3], 'that works'],
    [[3, 3, 1, 3], 'FRIDAY AT ten'],
    [[2], 'friday at ten, for four'],
    [[2], ' Friday  at\tten,\u00a0for four '],
    [[1], '4'],
  ])('of turns %j supports the answer: %j', (turns, quote) => {
    const { criterion, field, problems } = findingsOf(turns, quote)
    const evidence = { turns: [...new Set(turns)], quote: quote.replace('\t', ' ').trim() }
    expect(criterion).toEqual({
      id: 'it',
      result: 'pass',
      rationale: 'Since it is.',
      ...evidence,
      support: null,
    })
    expect(field).toEqual({ key: 'what', value: 'a thing', ...evidence })
    expect(problems).toEqual([])
  })

  test.each([
    [[3], ''],
    [[3], ' \n '],
    [[3], ','],
    [[3], '!…'],
    [[3], '\u200b'],
    [[3], 'that works\ud83d'],
    [[], 'that works'],
    [[2], 'that works'],
    [[2], 'how can I help'],
    [[0, 1], 'help? I would'],
    [[4], 'that works'],
    [[3, 4], 'that works'],
    [[-1], 'that works'],
    [[2 ** 60], 'that works'],
    [[3], 'Friday at eleven, that works.'],
    [[3], 'Friday … works'],
  ])('of turns %j supports nothing: %j', (turns, quote) => {
    const { criterion, field, problems } = findingsOf(turns, quote)
    expect<object>({ criterion, field }).toEqual(unsupported)
    expect(problems).toEqual([])
  })

  test('is found in any script, in either case', () => {
    const said = 'ΚΑΛΗΜΕΡΑ ΣΟΦΟΣ. Ωραία, Straße, İstanbul, می‌خواهم, 金曜日の十時に, नमस्ते, 👩‍👩‍👧 yes'
    const transcript = [{ role: 'user', content: said }]
    for (const quote of [
      'σοφος',
      'ΣΟΦΟ',
      'STRAßE',
      'istanbul'.replace('i', 'İ'),
      'می‌خواهم',
      '金曜日の 十時',
      'नमस्ते',
      '👩‍👩‍👧 YES',
    ])
      expect(findingsOf([0], quote, transcript).criterion?.result).toBe('pass')
  })

  test('keeps what shows nothing, as the turn has it, but for control characters', () => {
    const transcript = [{ role: 'user', content: 'my pass\u200bword is \u0007 \u202eterces' }]
    const { criterion } = findingsOf([0], 'pass\u200bword is \u0007 \u202eter', transcript)
    expect(criterion).toMatchObject({ result: 'pass', quote: 'pass\u200bword is   \u202eter' })
    expect(findingsOf([0], 'password', transcript).criterion?.result).toBe('unknown')
  })

  test('is cut where it is too long, and still occurs', () => {
    const transcript = [{ role: 'user', content: 'yes 👍🏽'.repeat(1_000) }]
    const { criterion } = findingsOf([0], transcript[0]?.content, transcript)
    expect(criterion?.result).toBe('pass')
    expect(criterion?.quote.length).toBeLessThanOrEqual(1_000)
    expect(criterion?.quote).toEndWith('👍🏽')
    expect(findingsOf([0], `${transcript[0]?.content} no`, transcript).criterion?.result).toBe('unknown')
  })
})

describe('any transcript and any quotation', () => {
  const piece = fc.oneof(
    fc.constantFrom('a', 'B', 'ß', 'Σ', 'σ', 'İ', 'é', 'yes', 'No', '4', '金', '曜', 'ن', '\u200c', '👍🏽'),
    fc.constantFrom(' ', '\n', '\t', '\u00a0', '.', ',', '-', '!'),
    fc.string({ maxLength: 3, unit: 'grapheme' }),
  )
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  const transcripts = fc
    .array(text, { minLength: 1, maxLength: 4 })
    .map((contents) => contents.map((content) => ({ role: 'user', content })))

  /** One character after the other, the slow way. */
  function occurs(quote: string, content: string): boolean {
    const lettersOf = (text: string) =>
      Array.from(text.toLowerCase())
        .filter((letter) => !/\s|\p{Cc}/u.test(letter))
        .map((letter) => (letter === 'ς' ? 'σ' : letter))
    const [wanted, all] = [lettersOf(quote), lettersOf(content)]
    if (!wanted.some((letter) => /\p{L}|\p{N}/u.test(letter))) return false
    return all.some((_, start) => wanted.every((letter, at) => all[start + at] === letter))
  }

  /** Words of the call, as they are or with a slip, or others. */
  const asking = transcripts.chain((transcript) => {
    const all = Array.from(transcript.map(({ content }) => content).join(''))
    const copied = fc
      .tuple(fc.nat(all.length), fc.integer({ min: 1, max: 6 }))
      .map(([start, length]) => all.slice(start, start + length).join(''))
    const slipped = fc
      .tuple(copied, fc.nat(6), piece)
      .map(([quote, at, slip]) => quote.slice(0, at) + slip + quote.slice(at + 1))
    const turns = fc.array(fc.nat(transcript.length - 1), { maxLength: 3 })
    const anyTurns = fc.array(fc.integer({ min: -1, max: 4 }), { maxLength: 3 })
    return fc.tuple(fc.constant(transcript), fc.oneof(copied, slipped, text), fc.oneof(turns, anyTurns))
  })

  test('an answer is believed where its quotation occurs in a turn that it names, and nowhere else', () => {
    const seen = { pass: 0, unknown: 0 }
    fc.assert(
      fc.property(asking, ([transcript, quote, turns]) => {
        const contents = turns.map((turn) => transcript[turn]?.content)
        const isTrue =
          !contents.includes(undefined) && contents.some((content) => occurs(quote, content ?? ''))
        const { criterion, field } = findingsOf(turns, quote, transcript)
        expect(criterion?.result).toBe(isTrue ? 'pass' : 'unknown')
        expect(field?.value).toBe(isTrue ? 'a thing' : null)
        seen[isTrue ? 'pass' : 'unknown']++
      }),
      { numRuns: 20_000 },
    )
    expect(Math.min(seen.pass, seen.unknown)).toBeGreaterThan(1_000)
  })

  test('whatever is copied from a turn is believed, in other case and with other white space', () => {
    const spaces = fc.constantFrom('', ' ', '\n', ' \t ')
    const copies = fc.record({
      transcript: transcripts,
      at: fc.nat(),
      from: fc.nat(),
      length: fc.nat(),
      space: spaces,
      isLower: fc.boolean(),
    })
    let believed = 0
    fc.assert(
      fc.property(copies, ({ transcript, at, from, length, space, isLower }) => {
        const turn = at % transcript.length
        const letters = Array.from(transcript[turn]?.content ?? '')
        const start = from % (letters.length + 1)
        const copied = letters.slice(start, start + 1 + (length % 8)).join(space)
        const quote = isLower ? copied.toLowerCase() : copied
        if (!/[\p{L}\p{N}]/u.test(quote)) return
        expect(findingsOf([turn], quote, transcript).criterion?.result).toBe('pass')
        believed++
      }),
      { numRuns: 5_000 },
    )
    expect(believed).toBeGreaterThan(1_000)
  })
})

describe('an answer', () => {
  const evidence = { turns: [3], quote: 'that works' }
  const judged = { ...evidence, rationale: 'Since.', result: 'pass' }
  const good = {
    summary: 'A table was booked.',
    criteria: { confirmed_date: judged, named_price: { ...judged, result: 'fail' } },
    fields: {
      day: { ...evidence, value: 'Friday' },
      is_new: { ...evidence, value: false },
      people: { ...evidence, value: 4 },
      price: { ...evidence, value: 12.5 },
      mood: { ...evidence, value: 'calm' },
    },
  }
  const read = (answer: unknown) => readFindings(answer, bookingRubric, booking)

  test('is read in the order of the rubric, and nothing else of it', () => {
    const fields = Object.fromEntries(Object.entries(good.fields).reverse())
    const { findings, problems, missing } = read({ evil: 1, ...good, fields: { more: 1, ...fields } })
    expect({ problems, missing }).toEqual({ problems: [], missing: [] })
    expect(findings.summary).toBe('A table was booked.')
    expect(findings.criteria).toEqual([
      { id: 'confirmed_date', result: 'pass', rationale: 'Since.', ...evidence, support: null },
      { id: 'named_price', result: 'fail', rationale: 'Since.', ...evidence, support: null },
    ])
    expect(findings.fields).toEqual([
      { key: 'day', value: 'Friday', ...evidence },
      { key: 'is_new', value: false, ...evidence },
      { key: 'people', value: 4, ...evidence },
      { key: 'price', value: 12.5, ...evidence },
      { key: 'mood', value: 'calm', ...evidence },
    ])
  })

  test('without some of what was asked: it is missing, and unknown', () => {
    const { findings, problems, missing } = read({ ...good, criteria: {}, fields: { day: good.fields.day } })
    expect(problems).toEqual([])
    expect(missing).toEqual([
      'criteria.confirmed_date is missing',
      'criteria.named_price is missing',
      'fields.is_new is missing',
      'fields.people is missing',
      'fields.price is missing',
      'fields.mood is missing',
    ])
    const nothing = { turns: [], quote: '' }
    expect(findings.criteria[1]).toEqual({
      id: 'named_price',
      result: 'unknown',
      rationale: '',
      ...nothing,
      support: null,
    })
    expect(findings.fields.map(({ value }) => value)).toEqual(['Friday', null, null, null, null])
    expect(findings.fields[1]).toEqual({ key: 'is_new', value: null, ...nothing })
  })

  test.each([
    ['day', 5, 'a text'],
    ['is_new', 'yes', 'true or false'],
    ['people', 4.5, 'an integer'],
    ['people', '4', 'an integer'],
    ['people', 1e300, 'an integer'],
    ['price', '12.50', 'a number'],
    ['price', Number.POSITIVE_INFINITY, 'a number'],
    ['mood', 'furious', 'one of the choices'],
    ['mood', 'CALM', 'one of the choices'],
    ['day', undefined, 'a text'],
    ['day', [], 'a text'],
  ])('with another type for %s: %p', (key, value, form) => {
    const { findings, problems } = read({
      ...good,
      fields: { ...good.fields, [key]: { ...evidence, value } },
    })
    expect(problems).toEqual([`fields.${key}.value must be ${form} or null`])
    expect(findings.fields.find((field) => field.key === key)?.value).toBeNull()
  })

  test.each([
    [{ result: 'passed' }, 'result must be pass, fail or unknown'],
    [{ result: null }, 'result must be pass, fail or unknown'],
    [{ rationale: 7 }, 'rationale must be a text'],
    [{ quote: null }, 'quote must be a text'],
    [{ turns: 3 }, 'turns must be a list of integers'],
    [{ turns: ['3'] }, 'turns must be a list of integers'],
    [{ turns: [3.5] }, 'turns must be a list of integers'],
  ])('with %j in a verdict', (wrong, problem) => {
    const { findings, problems } = read({
      ...good,
      criteria: { ...good.criteria, named_price: { ...judged, ...wrong } },
    })
    expect(problems).toEqual([`criteria.named_price.${problem}`])
    expect(findings.criteria[0]?.result).toBe('pass')
    if (!('rationale' in wrong)) expect(findings.criteria[1]?.result).toBe('unknown')
  })

  test.each([null, 'text', 7, { 0: [] }, { summary: 5, criteria: [], fields: 'none' }])(
    'that is none: %j',
    (answer) => {
      const { findings, problems } = read(answer)
      expect(problems).toEqual([
        'criteria must be an object',
        'fields must be an object',
        'summary must be a text',
      ])
      expect(findings.criteria.map(({ result }) => result)).toEqual(['unknown', 'unknown'])
      expect(findings.fields.every(({ value }) => value === null)).toBe(true)
      expect(findings.summary).toBeNull()
    },
  )

  test('may have ids that objects have from birth', () => {
    const ids = ['constructor', '__proto__', 'to_string']
    const rubric = rubricOf({
      criteria: ids.map((id) => ({ id, name: id, question: 'Is it?' })),
      fields: ids.map((key) => ({ key, type: 'string', description: 'What is it?' })),
    })
    expect(readFindings({ criteria: {}, fields: {} }, rubric, booking).missing.length).toBe(6)
    const entries = (entry: object) => `{${ids.map((id) => `"${id}": ${JSON.stringify(entry)}`)}}`
    const answer = `{"criteria": ${entries(judged)}, "fields": ${entries({ ...evidence, value: 'it' })}}`
    const { findings, missing, problems } = readFindings(JSON.parse(answer), rubric, booking)
    expect({ missing, problems }).toEqual({ missing: [], problems: [] })
    expect(findings.criteria.map(({ id, result }) => [id, result])).toEqual(ids.map((id) => [id, 'pass']))
    expect(findings.fields.map(({ key, value }) => [key, value])).toEqual(ids.map((key) => [key, 'it']))
  })

  test('is bounded, on one line, and has nothing in it that shows nothing or that HTML would run', () => {
    const wild = `<img src=x onerror=alert(1)>\0\u0007\u202e\u200b\u{e0041}\n</p> 1 < 2 \ud800${'x'.repeat(10_000)}`
    const { findings } = read({
      summary: wild,
      criteria: { ...good.criteria, named_price: { ...judged, rationale: wild } },
      fields: { ...good.fields, day: { ...evidence, value: wild } },
    })
    const clean = '‹img src=x onerror=alert(1)> ‹/p> 1 < 2 \ufffdxxx'
    expect(findings.summary).toStartWith(clean)
    expect(findings.summary?.length).toBe(4_000)
    expect(findings.criteria[1]?.rationale).toStartWith(clean)
    expect(findings.criteria[1]?.rationale.length).toBe(1_000)
    expect(findings.fields[0]?.value).toStartWith(clean.replaceAll('‹', '<'))
    expect(String(findings.fields[0]?.value).length).toBe(2_000)
  })

  test('without words is none', () => {
    const { findings } = read({
      ...good,
      summary: ' \n',
      fields: { ...good.fields, day: { ...evidence, value: ' ' } },
    })
    expect(findings.summary).toBeNull()
    expect(findings.fields[0]?.value).toBeNull()
  })
})
