import { afterAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { startService } from '../support/service.ts'

const service = await startService({ env: { BODY_MAX_BYTES: '2000000' } })
const project = await service.mintProject()

afterAll(async () => {
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
})

/** Bodies that are refused, by what is wrong, with the fields that the answer names. */
const badItems: Record<string, [body: unknown, ...fields: string[]]> = {
  'no fields': [{}, 'name', 'text'],
  'no name': [{ text: 'x' }, 'name'],
  'no text': [{ name: 'x' }, 'text'],
  'an empty name': [{ name: '', text: 'x' }, 'name'],
  'an empty text': [{ name: 'x', text: '' }, 'text'],
  'a blank name': [{ name: ' \t\n\u00a0\u3000\ufeff', text: 'x' }, 'name'],
  'a blank text': [{ name: 'x', text: '\r\n \u2028\u2003' }, 'text'],
  'a null name': [{ name: null, text: 'x' }, 'name'],
  'a null text': [{ name: 'x', text: null }, 'text'],
  'a null description': [{ name: 'x', text: 'x', description: null }, 'description'],
  'a name that is a number': [{ name: 7, text: 'x' }, 'name'],
  'a text that is a list': [{ name: 'x', text: ['x'] }, 'text'],
  'a description that is an object': [{ name: 'x', text: 'x', description: {} }, 'description'],
  'a name of 201 characters': [{ name: 'x'.repeat(201), text: 'x' }, 'name'],
  'a name of 201 astral characters': [{ name: '𝕏'.repeat(201), text: 'x' }, 'name'],
  'a description of 2,001 characters': [
    { name: 'x', text: 'x', description: '🙂'.repeat(2_001) },
    'description',
  ],
  'U+0000 in the name': [{ name: 'a\u0000b', text: 'x' }, 'name'],
  'a direction mark in the name': [{ name: 'a\u200eb', text: 'x' }, 'name'],
}

const badSearches: Record<string, [body: unknown, ...fields: string[]]> = {
  'no fields': [{}, 'query'],
  'an empty query': [{ query: '' }, 'query'],
  'a blank query': [{ query: ' \n\t\u00a0' }, 'query'],
  'a null query': [{ query: null }, 'query'],
  'a query that is a list': [{ query: ['x'] }, 'query'],
  'a query of 2,001 characters': [{ query: 'x'.repeat(2_001) }, 'query'],
  'a query of 2,001 astral characters': [{ query: '𝕏'.repeat(2_001) }, 'query'],
  'a limit of 0': [{ query: 'x', limit: 0 }, 'limit'],
  'a limit of 51': [{ query: 'x', limit: 51 }, 'limit'],
  'a negative limit': [{ query: 'x', limit: -1 }, 'limit'],
  'a limit that is a fraction': [{ query: 'x', limit: 1.5 }, 'limit'],
  'a limit that is a text': [{ query: 'x', limit: '5' }, 'limit'],
  'a null limit': [{ query: 'x', limit: null }, 'limit'],
  'an unknown mode': [{ query: 'x', mode: 'fuzzy' }, 'mode'],
  'a mode in capitals': [{ query: 'x', mode: 'HYBRID' }, 'mode'],
  'a null mode': [{ query: 'x', mode: null }, 'mode'],
  'item ids that are a text': [{ query: 'x', itemIds: 'kn_1' }, 'itemIds'],
  'an item id that is a number': [{ query: 'x', itemIds: ['kn_1', 2] }, 'itemIds.1'],
  'null item ids': [{ query: 'x', itemIds: null }, 'itemIds'],
  'a timeout of 9 ms': [{ query: 'x', timeoutMs: 9 }, 'timeoutMs'],
  'a timeout of 10,001 ms': [{ query: 'x', timeoutMs: 10_001 }, 'timeoutMs'],
  'a timeout that is a fraction': [{ query: 'x', timeoutMs: 10.5 }, 'timeoutMs'],
  'everything wrong': [
    { query: 1, limit: 'x', mode: 2, itemIds: 3, timeoutMs: {} },
    'query',
    'limit',
    'mode',
    'itemIds',
    'timeoutMs',
  ],
}

const badPreviews: Record<string, [body: unknown, ...fields: string[]]> = {
  'no text': [{ name: 'x' }, 'text'],
  'an empty text': [{ text: '' }, 'text'],
  'a blank text': [{ text: ' \n\u3000' }, 'text'],
  'a null text': [{ text: null }, 'text'],
  'a text that is a list': [{ text: ['x'] }, 'text'],
}

for (const [path, bodies] of [
  ['/v1/knowledge', badItems],
  ['/v1/knowledge/preview', badPreviews],
  ['/v1/knowledge/search', badSearches],
] as const)
  describe(`POST ${path}`, () => {
    for (const [name, [body, ...fields]] of Object.entries(bodies))
      test(`with ${name} is 400 and names ${fields.join(', ')}`, async () => {
        const answer = await project.send('POST', path, body)
        const problem = await expectProblem(answer, 'invalid_request')
        const named = problem.errors?.map(({ field }) => field).toSorted()
        expect(named).toEqual(fields.toSorted())
        for (const { message } of problem.errors ?? []) expect(message).toMatch(/^(must|is) .+[^.]$/)
      })

    test('with fields we do not know, a charset and white space around is taken', async () => {
      const body = ' \n{"name":"x","text":"x","query":"x","more":{"deep":[1]},"id":"mine","createdAt":1} '
      const answer = await postRaw(path, body, 'Application/JSON; charset=utf-8')
      expect(answer.status).toBeLessThan(300)
      expect(await answer.text()).not.toContain('mine')
    })
  })

test('what is refused is not stored', async () => {
  const own = await service.mintProject()
  for (const [body] of Object.values(badItems)) await own.send('POST', '/v1/knowledge', body)
  expect(await own.fetch('/v1/knowledge').then((answer) => answer.text())).toBe('[]')
})

function postRaw(path: string, body: BodyInit, type = 'application/json'): Promise<Response> {
  return project.fetch(path, { method: 'POST', body, headers: { 'content-type': type } })
}
