import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type { CallChange } from '../../../src/calls/schemas.ts'
import { expectProblem } from '../../support/problem.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { exportParts, putCalls, said } from '../put-calls.ts'

const service = await startService()

const at = (minute: number) => new Date(Date.UTC(2026, 0, 5) + minute * 60_000).toISOString()

async function projectWith(changes: (CallChange & { id: string })[]): Promise<TestProject> {
  const project = await service.mintProject()
  await putCalls(service.services, project.projectId, changes)
  return project
}

function get(project: TestProject, query: string, accept: string): Promise<Response> {
  return project.fetch(`/v1/calls${query}`, { headers: { accept } })
}

describe('CSV', () => {
  test('has the fields that fit a cell, harmless in a spreadsheet', async () => {
    const project = await projectWith([
      {
        id: '-1',
        createdAt: at(1),
        updatedAt: at(2),
        status: 'completed',
        duration: 1.5,
        summary: 'Said "no", then\r\nleft ✓',
        evaluation: '=1+1',
        endedReason: '+cmd',
        callerNumber: '+1 (555) 010-0044',
        calledNumber: '@sip',
        isEngaged: true,
        callAnalysis: { evaluation: ',"callAnalysis":' },
        ...said('hello'),
      },
      { id: 'b', createdAt: at(0), updatedAt: at(0), summary: '-', endedReason: '\t=1+1' },
    ])
    const answer = await get(project, '', 'text/csv')
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(answer.headers.get('vary')).toBe('Accept')
    expect(await answer.text()).toBe(
      [
        'id,status,duration,summary,evaluation,endedReason,callerNumber,calledNumber,isEngaged,createdAt,updatedAt',
        `'-1,completed,1.5,"Said ""no"", then\r\nleft ✓",'=1+1,'+cmd,+1 (555) 010-0044,'@sip,true,${at(1)},${at(2)}`,
        `b,live,0,'-,,'\t'=1+1,,,false,${at(0)},${at(0)}`,
        '',
      ].join('\r\n'),
    )
    const few = await get(project, '?fields=duration,status&order=createdAt&limit=1', 'text/csv')
    expect(await few.text()).toBe('id,status,duration\r\nb,live,0\r\n')
    await expectProblem(await get(project, '?fields=transcript', 'text/csv'), 'invalid_request')
  })
})

describe('CSV for Excel', () => {
  test('begins with the byte order mark', async () => {
    const project = await projectWith([{ id: 'a', summary: 'ü' }])
    for (const accept of ['text/csv;header=bom', 'text/html, text/csv; header=bom;q=0.9, */*;q=0.1']) {
      const answer = await get(project, '?fields=summary', accept)
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      expect(Buffer.from(await answer.arrayBuffer()).toString('latin1')).toBe(
        Buffer.from('\ufeffid,summary\r\na,ü\r\n').toString('latin1'),
      )
    }
    for (const accept of [
      'text/csv',
      'text/csv;q=0.9, text/csv;header=bom;q=0.1',
      'text/csv;header=present',
    ]) {
      const answer = await get(project, '', accept)
      expect(Buffer.from(await answer.arrayBuffer()).toString()).toStartWith('id,')
    }
    const lines = await get(project, '', 'application/x-ndjson;header=bom')
    expect(Buffer.from(await lines.arrayBuffer()).toString()).toStartWith('{')
  })
})

describe('NDJSON', () => {
  test('has none of the line ends of Unicode, and the same JSON', async () => {
    const summary = 'a\u2028b\u2029c\u0085d “e” \\u2028'
    const callAnalysis = { '\u2028': '\u0085' }
    const project = await projectWith([
      { id: 'a', summary, callAnalysis, details: { agent: { id: '\u2029' } } },
    ])
    const call = await (await project.fetch('/v1/calls/a')).json()
    for (const query of ['', '?fields=summary,callAnalysis', '?details=include']) {
      const text = await (await get(project, query, 'application/x-ndjson')).text()
      expect(text).not.toMatch(/[\u2028\u2029\u0085]/)
      expect(text).toContain('a\\u2028b\\u2029c\\u0085d “e” \\\\u2028')
      const { details: _, ...read } = JSON.parse(text)
      expect(call).toMatchObject(read)
    }
    const [line] = await exportParts(service.services, project.projectId)
    expect(line).not.toMatch(/[\u2028\u2029\u0085]/)
  })

  test('is every call, or as many as asked for, one a line', async () => {
    const ids = Array.from({ length: 2_300 }, (_, n) => `c${n}`)
    const project = await projectWith(
      ids.map((id, n) => ({ id, createdAt: at(n), summary: 'x'.repeat(n % 700) })),
    )
    const newest = ids.toReversed()
    const idsOf = async (query: string) => {
      const answer = await get(project, query, 'application/x-ndjson')
      expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
      return (await answer.text())
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id)
    }
    expect(await idsOf('')).toEqual(newest)
    expect(await idsOf('?order=createdAt')).toEqual(ids)
    expect(await idsOf('?limit=1500&offset=3')).toEqual(newest.slice(3, 1_503))
    expect(await idsOf('?limit=0')).toEqual([])
    expect(await idsOf(`?from=${at(1_000)}&status=live`)).toEqual(newest.slice(0, 1_300))
    const { pagination } = await (await project.fetch('/v1/calls?limit=7')).json()
    expect(await idsOf(`?cursor=${pagination.next}`)).toEqual(newest.slice(7))
    expect(await (await project.fetch('/v1/calls?limit=1')).text()).toContain(
      (await (await get(project, '?limit=1', 'application/x-ndjson')).text()).trimEnd(),
    )
  })

  test('is read from the database only as fast as the client takes it, and no further once it goes', async () => {
    const project = await service.mintProject()
    // Hard to compress, so that the client takes as long as for the texts themselves.
    const randomText = () => randomBytes(75_000).toString('base64')
    // A few at once: a database on a server takes no larger statements.
    for (let n = 0; n < 300; n += 20) {
      const some = Array.from({ length: 20 }, (_, m) => ({ id: `c${n + m}`, ...said(randomText()) }))
      await putCalls(service.services, project.projectId, some)
    }
    const { calls } = service.services
    let given = 0
    let isOver = false
    const exportAll = calls.export.bind(calls)
    calls.export = async function* (...parameters: Parameters<typeof exportAll>) {
      try {
        for await (const part of exportAll(...parameters)) {
          given++
          yield part
        }
      } finally {
        isOver = true
      }
    }
    try {
      const answer = await get(project, '', 'application/x-ndjson')
      const reader = answer.body?.getReader()
      await reader?.read()
      await Bun.sleep(200)
      expect(given).toBeGreaterThan(0)
      expect(given).toBeLessThan(100)
      await reader?.cancel()
      await until(async () => isOver)
    } finally {
      calls.export = exportAll
    }
  })
})

describe('the form', () => {
  test.each([
    ['*/*', 'application/json'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
    ['text/csv;q=0.5, application/x-ndjson;q=0.9', 'application/x-ndjson'],
    ['application/x-ndjson;q=0', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['TEXT/CSV', 'text/csv; charset=utf-8'],
  ])('for Accept: %s is %s', async (accept, type) => {
    const project = await projectWith([{ id: 'a' }])
    const answer = await get(project, '', accept)
    expect(answer.headers.get('content-type')).toBe(type)
    await answer.arrayBuffer()
  })
})

describe('fields', () => {
  test('are the ones asked for, byte for byte, and the id', async () => {
    const callAnalysis = { transcript: ',"transcript":[', n: -0, deep: { transcript: [1] } }
    const summary = '","callAnalysis":{"'
    const project = await projectWith([
      { id: 'a', summary, callAnalysis, createdAt: at(0), ...said('],"createdAt":"') },
    ])
    const whole = await (await project.fetch('/v1/calls/a')).text()
    const listed = async (fields: string) =>
      (await (await project.fetch(`/v1/calls?fields=${fields}`)).text())
        .slice('{"data":['.length)
        .split('],"pagination"')[0]
    expect(await listed(Object.keys(JSON.parse(whole)).join(','))).toBe(whole)
    expect(await listed('transcript')).toBe(
      `{"id":"a","transcript":${JSON.stringify(said('],"createdAt":"').transcript)}}`,
    )
    expect(await listed('createdAt,summary')).toBe(
      `{"id":"a","summary":${JSON.stringify(summary)},"createdAt":"${at(0)}"}`,
    )
    expect(await listed('callAnalysis')).toContain('"n":-0,')
  })
})

describe('bad parameters', () => {
  test.each([
    ['?cursor=x', 'cursor'],
    ['?cursor=', 'cursor'],
    ['?order=duration', 'order'],
    ['?fields=id,name', 'fields'],
    ['?fields=', 'fields'],
    ['?status=ended', 'status'],
    ['?status=live%2Cended', 'status'],
    ['?from=2026-02-30', 'from'],
    ['?number=none', 'number'],
    ['?minDuration=1,2', 'minDuration'],
    ['?evaluation=', 'evaluation'],
    ['?evaluation=%00', 'evaluation'],
    ['?analysis.k=', 'analysis.k'],
  ])('%s is 400 and names %s', async (query, field) => {
    const project = await service.mintProject()
    const problem = await expectProblem(await project.fetch(`/v1/calls${query}`), 'invalid_request')
    expect(problem.errors).toMatchObject([{ field }])
  })

  test('a cursor of another project, of the other order, or with an offset is 400', async () => {
    const [one, two] = [
      await projectWith([{ id: 'a' }, { id: 'b' }]),
      await projectWith([{ id: 'a' }, { id: 'b' }]),
    ]
    const { pagination } = await (await one.fetch('/v1/calls?limit=1')).json()
    const { next } = pagination
    expect((await (await one.fetch(`/v1/calls?cursor=${next}`)).json()).data).toHaveLength(1)
    await expectProblem(await two.fetch(`/v1/calls?cursor=${next}`), 'invalid_request')
    await expectProblem(await one.fetch(`/v1/calls?cursor=${next}&order=createdAt`), 'invalid_request')
    const both = await expectProblem(await one.fetch(`/v1/calls?cursor=${next}&offset=0`), 'invalid_request')
    expect(both.errors).toMatchObject([{ field: 'offset' }])
  })
})
