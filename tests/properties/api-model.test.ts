import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { nameProblem } from '../../src/validation.ts'
import fc from '../support/fast-check.ts'
import { Reference, type ReferenceCall, type ReferenceChange } from '../support/reference.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

setDefaultTimeout(1_200_000)
// By hand: MODEL_RUNS=1000 bun test tests/properties/api-model.test.ts
const runs = Number(process.env.MODEL_RUNS ?? 25)
let service: TestService
beforeAll(async () => {
  service = await startService({ env: { INDEX_WAIT_MS: '1' } })
})
afterAll(() => service.stop())

type Step =
  | { do: 'put'; id: string; change: ReferenceChange }
  | { do: 'remove' | 'get'; id: string }
  | { do: 'list'; limit: number; offset: number }
  | { do: 'addItem'; name: string; text: string }
  | { do: 'removeItem' | 'getItem'; place: number }
  | { do: 'listItems' }

const ids = fc.constantFrom('a', 'B', 'c.1', 'c_1', 'c-1', 'c:1', '0')
const turns = fc.array(
  fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const),
    content: fc.constantFrom('hi', 'yes', '👋', ''),
  }),
  { minLength: 1, maxLength: 3 },
)
const changes: fc.Arbitrary<ReferenceChange> = fc.record(
  {
    status: fc.constantFrom('live' as const, 'completed' as const),
    duration: fc.constantFrom(0, 0.1, 12, 1e9),
    summary: fc.option(fc.string({ maxLength: 8 })),
    isEngaged: fc.boolean(),
    transcript: turns,
    appendTranscript: fc.record({ at: fc.nat(4), turns }),
    createdAt: fc.constantFrom(
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.001Z',
      '2025-12-31T23:59:59.999Z',
    ),
  },
  { requiredKeys: [] },
)
const texts = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => /\S/.test(text) && text.isWellFormed() && !text.includes('\0'))
const names = texts.filter((text) => nameProblem(text) === null)
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('put' as const), id: ids, change: changes }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('remove' as const, 'get' as const), id: ids }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('list' as const), limit: fc.nat(9), offset: fc.nat(9) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('addItem' as const), name: names, text: texts }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('removeItem' as const, 'getItem' as const),
      place: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('listItems' as const) }) },
)

function shownOf({
  id,
  status,
  duration,
  summary,
  isEngaged,
  transcript,
  createdAt,
}: ReferenceCall): ReferenceCall {
  return { id, status, duration, summary, isEngaged, transcript, createdAt }
}

async function follow(step: Step, project: TestProject, reference: Reference): Promise<void> {
  switch (step.do) {
    case 'put': {
      const answer = await project.send('PUT', `/ingest/calls/${step.id}`, step.change)
      const body = await answer.json()
      const expected = reference.put(step.id, step.change, body.createdAt)
      expect(answer.status).toBe(expected.status)
      if (expected.call) expect(shownOf(body)).toEqual(expected.call)
      return
    }
    case 'remove': {
      const answer = await project.fetch(`/v1/calls/${step.id}`, { method: 'DELETE' })
      expect(answer.status).toBe(reference.remove(step.id).status)
      return
    }
    case 'get': {
      const answer = await project.fetch(`/v1/calls/${step.id}`)
      const call = reference.calls.get(step.id)
      expect(answer.status).toBe(call ? 200 : 404)
      if (call) expect(shownOf(await answer.json())).toEqual(call)
      return
    }
    case 'list': {
      const answer = await project.fetch(`/v1/calls?limit=${step.limit}&offset=${step.offset}`)
      const { data, pagination }: { data: ReferenceCall[]; pagination: object } = await answer.json()
      const { ids, total } = reference.list(step.limit, step.offset)
      expect(data.map(({ id }) => id)).toEqual(ids)
      const hasMore = ids.length > 0 && step.offset + ids.length < total
      expect(pagination).toEqual({
        ...{ total, limit: step.limit, offset: step.offset },
        next: hasMore ? expect.any(String) : null,
      })
      for (const call of data) expect(shownOf(call)).toEqual(reference.calls.get(call.id) as ReferenceCall)
      return
    }
    case 'addItem': {
      const answer = await project.send('POST', '/v1/knowledge', { name: step.name, text: step.text })
      const { id, name, text } = await answer.json()
      expect({ status: answer.status, name, text }).toEqual({ status: 201, name: step.name, text: step.text })
      reference.items = [{ id, name, text }, ...reference.items]
      return
    }
    case 'listItems': {
      const list: { id: string; name: string; text: string }[] = await (
        await project.fetch('/v1/knowledge')
      ).json()
      expect(list.map(({ id, name, text }) => ({ id, name, text }))).toEqual(reference.items)
      return
    }
    default: {
      const item = reference.items[step.place]
      const path = `/v1/knowledge/${item?.id ?? 'kn_none'}`
      const isRemoval = step.do === 'removeItem'
      const answer = await project.fetch(path, isRemoval ? { method: 'DELETE' } : {})
      expect(answer.status).toBe(item ? 200 : 404)
      if (isRemoval) reference.items = reference.items.filter(({ id }) => id !== item?.id)
    }
  }
}

test('after any sequence of operations the service answers like a plain list in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 10, maxLength: 40 }), async (sequence) => {
      const project = await service.mintProject()
      const reference = new Reference()
      for (const step of sequence) await follow(step, project, reference)
    }),
    { numRuns: runs },
  )
  expect(service.logs.filter(({ msg }) => msg === 'internal')).toEqual([])
})

test('pages read while calls arrive are in order, repeat none, and miss none that existed before', async () => {
  const project = await service.mintProject()
  const before = Array.from({ length: 60 }, (_, n) => `old-${String(n).padStart(2, '0')}`)
  const put = (id: string, time: number) =>
    project.send('PUT', `/ingest/calls/${id}`, { createdAt: new Date(time).toISOString() })
  for (const [n, id] of before.entries()) await put(id, 1_000_000 + Math.floor(n / 3))
  let isWriting = true
  const writing = (async () => {
    for (let n = 0; isWriting; n++) await put(`new-${n}`, 2_000_000 + n)
  })()
  for (const limit of [100, 20, 7, 1]) {
    const seen: string[] = []
    let total = 0
    for (let offset = 0; ; offset += limit) {
      const page: { data: { id: string; createdAt: string }[]; pagination: { total: number } } = await (
        await project.fetch(`/v1/calls?limit=${limit}&offset=${offset}`)
      ).json()
      const keys = page.data.map(({ id, createdAt }) => `${createdAt} ${id}`)
      expect(keys).toEqual([...new Set(keys)].sort().reverse())
      expect(page.pagination.total).toBeGreaterThanOrEqual(total)
      expect(page.data.length).toBeLessThanOrEqual(limit)
      total = page.pagination.total
      seen.push(...page.data.map(({ id }) => id))
      // Each new call moves the old ones on by one, so that the end runs away from the smallest pages.
      if (page.data.length === 0 || offset > 5_000) break
      if (limit === 1 && offset === 200) isWriting = false
    }
    expect(before.filter((id) => !seen.includes(id))).toEqual([])
  }
  isWriting = false
  await writing
})
