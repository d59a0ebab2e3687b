import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Call, CallChange } from '../../src/calls/schemas.ts'
import { readDays } from '../support/days.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'
import { isFound, wordsSaid } from './rules.ts'

const file = resolve(import.meta.dir, '../../../shared/data/calls.jsonl')
const isThere = existsSync(file)
if (!isThere) skipped(`there is no ${file}`)

type Line = CallChange & { id: string; createdAt: string }

const callsPerPutAll = 500
const callsPerPage = 1_000
/** Of the calls that have a common word the others are like these. */
const comparedMax = 600
/** Every so many are deleted. */
const keptPerDeleted = 160

describe.skipIf(!isThere)('8,000 real dialogues', () => {
  let service: TestService
  let project: TestProject
  /** In the order in which they are to be listed. */
  let lines: Line[]

  beforeAll(async () => {
    service = await startService()
    project = await service.mintProject()
    lines = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    for (let i = 0; i < lines.length; i += callsPerPutAll) {
      const inputs = lines.slice(i, i + callsPerPutAll).map((line) => ({ id: line.id, change: line }))
      for (const result of await service.services.ingest.putAll(project.projectId, inputs)) {
        if (result instanceof Error) throw result
        if (!result.isNew) throw new Error('The file names an id twice')
      }
    }
    lines.sort((a, b) => compare(b.createdAt, a.createdAt) || compare(b.id, a.id))
  })

  async function expectListed(expected: Line[]): Promise<void> {
    for (let offset = 0; offset < expected.length; offset += callsPerPage) {
      const answer = await project.fetch(`/v1/calls?limit=${callsPerPage}&offset=${offset}`)
      const page: { data: Call[]; pagination: unknown } = await answer.json()
      const wanted = expected.slice(offset, offset + callsPerPage)
      expect(page.pagination).toMatchObject({ total: expected.length, limit: callsPerPage, offset })
      expect(page.data.map(({ id }) => id)).toEqual(wanted.map(({ id }) => id))
      for (const [i, line] of wanted.entries()) {
        const call: Record<string, unknown> = { ...page.data[i] }
        // A file may leave fields out; what it has comes back as it was.
        for (const [field, value] of Object.entries(line)) expect(call[field]).toStrictEqual(value)
        expect(Object.keys(call)).toHaveLength(13)
      }
    }
  }

  test('come back from the list field by field, in order', () => expectListed(lines))

  test('come back one by one as they are in the list', async () => {
    const page: { data: Call[] } = await (await project.fetch('/v1/calls?limit=50&offset=4000')).json()
    for (const call of page.data)
      expect(await (await project.fetch(`/v1/calls/${call.id}`)).text()).toBe(JSON.stringify(call))
  })

  test('imported again are unchanged', async () => {
    const before = await (await project.fetch('/v1/calls?limit=1000')).text()
    const inputs = lines.slice(0, callsPerPage).map((line) => ({ id: line.id, change: line }))
    const results = await service.services.ingest.putAll(project.projectId, inputs)
    expect(results.every((result) => !(result instanceof Error) && !result.isNew)).toBe(true)
    expect((await (await project.fetch('/v1/calls?limit=1000')).text()) === before).toBe(true)
  })

  test('are found by what was said in them, all of them and in order', async () => {
    const said = lines.map((line) => ({ id: line.id, said: wordsSaid(line) }))
    const { calls } = service.services
    for (const text of [
      'stanley kubrick',
      'cortado to go',
      "don't",
      'haircut salon',
      'wedd',
      'th',
      'the you a i to',
      'zzzz',
    ]) {
      const expected = said.flatMap(({ id, said }) => (isFound(said, text) ? id : []))
      const first = await calls.rows(project.projectId, { text, limit: '200' })
      expect([text, first.total]).toEqual([text, expected.length <= 10_000 ? expected.length : null])
      const found = first.data.map(({ id }) => id)
      let cursor = first.nextCursor
      while (cursor && found.length < comparedMax) {
        const page = await calls.rows(project.projectId, { text, limit: '200', cursor })
        found.push(...page.data.map(({ id }) => id))
        cursor = page.nextCursor
      }
      if (!cursor) expect([text, found.length]).toEqual([text, expected.length])
      expect(found).toEqual(expected.slice(0, found.length))
      for (const { match } of first.data) {
        const marked = match?.ranges.map(([start, end]) => match.text.slice(start, end)).join(' ') ?? ''
        expect([
          text,
          text.split(/\W+/).some((word) => isFound(wordsSaid({ summary: marked }), word)),
        ]).toEqual([text, true])
      }
    }
  })

  test('add up in figures', async () => {
    const { figures } = service.services
    const period = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }
    const of = (day: string) => lines.filter(({ createdAt }) => createdAt.startsWith(day))
    const days = await readDays(service.services, project.projectId, period)
    for (const { day, success, fail, other, unevaluated } of days) {
      const calls = of(day)
      expect([day, success, fail]).toEqual([
        day,
        calls.filter(({ evaluation }) => evaluation === 'success').length,
        calls.filter(({ evaluation }) => evaluation === 'fail').length,
      ])
      expect(success + fail + other + unevaluated).toBe(calls.length)
    }
    const durations = of('2026')
      .flatMap(({ duration = 0 }) => duration)
      .sort((a, b) => a - b)
    const query = { ...period, of: 'duration', show: 'p50' }
    const { total, data } = await figures.read(project.projectId, query)
    // The nearest rank.
    const median = durations[Math.ceil(durations.length / 2) - 1]
    expect([total, data[0]?.value]).toEqual([durations.length, median ?? -1])
  })

  test('lose those that are deleted and keep the rest as it was', async () => {
    const isGone = (_: Line, i: number) => i % keptPerDeleted === 1
    const gone = lines.filter(isGone)
    for (const { id } of gone) {
      const answer = await project.fetch(`/v1/calls/${id}`, { method: 'DELETE' })
      expect(await answer.json()).toEqual({ id, deleted: true })
    }
    await expectListed(lines.filter((line, i) => !isGone(line, i)))
    for (const { id } of gone.slice(-20)) expect((await project.fetch(`/v1/calls/${id}`)).status).toBe(404)
  })
})

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
