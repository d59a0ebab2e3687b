import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import type { Call } from '../../../src/calls/schemas.ts'
import type { Services } from '../../../src/services/services.ts'
import { freshFolder } from '../../support/at-end.ts'
import { openCommand } from '../../support/command.ts'
import fc, { runs } from '../../support/fast-check.ts'
import { expectProblem } from '../../support/problem.ts'
import { type ServiceProcess, spawnService } from '../../support/process.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { until } from '../../support/until.ts'

interface Page {
  data: Call[]
  pagination: { total: number; limit: number; offset: number; next: string | null }
}

interface Listed {
  id: string
  createdAt: number
}

const msPerDay = 86_400_000
const firstDay = Date.UTC(2026, 0, 1)

const service = await startService()

async function pageOf(project: TestProject, query = ''): Promise<Page> {
  const answer = await project.fetch(`/v1/calls${query}`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  return await answer.json()
}

async function create(project: TestProject, calls: Listed[]): Promise<void> {
  const inputs = calls.map(({ id, createdAt }) => ({
    id,
    change: { createdAt: new Date(createdAt).toISOString() },
  }))
  for (const result of await service.services.ingest.putAll(project.projectId, inputs)) {
    if (result instanceof Error) throw result
  }
}

/** What §2 says of order, on an array: ids are ASCII, so comparing their characters compares their bytes. */
function newestFirst(a: Listed, b: Listed): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt
  return a.id < b.id ? 1 : -1
}

function idsOf(page: Page): string[] {
  return page.data.map(({ id }) => id)
}

describe('GET /v1/calls', () => {
  test('of a project without calls is an empty page', async () => {
    const project = await service.mintProject()
    expect(await pageOf(project)).toEqual({
      data: [],
      pagination: { total: 0, limit: 100, offset: 0, next: null },
    })
    expect((await pageOf(project, '?offset=5&limit=7')).pagination).toEqual({
      total: 0,
      limit: 7,
      offset: 5,
      next: null,
    })
  })

  test('holds each call exactly as GET /v1/calls/:id and PUT answer it', async () => {
    const project = await service.mintProject()
    const answers: string[] = []
    for (const [i, analysis] of [
      '{"__proto__":{"10":1,"2":-0}}',
      '{"s":"\\u2028📞\\u0007"}',
      'null',
    ].entries()) {
      const body = `{"createdAt":"2026-01-0${9 - i}T00:00:00Z","callAnalysis":${analysis}}`
      const headers = { 'content-type': 'application/json' }
      answers.push(
        await (await project.fetch(`/ingest/calls/c${i}`, { method: 'PUT', body, headers })).text(),
      )
      expect(await (await project.fetch(`/v1/calls/c${i}`)).text()).toBe(answers[i] ?? '')
    }
    const text = await (await project.fetch('/v1/calls?limit=2&offset=1')).text()
    const pagination = '"pagination":{"total":3,"limit":2,"offset":1,"next":null}'
    expect(text).toBe(`{"data":[${answers.slice(1).join(',')}],${pagination}}`)
  })
})

describe('limit and offset', () => {
  let project: TestProject
  beforeAll(async () => {
    project = await service.mintProject()
    await create(
      project,
      Array.from({ length: 1_100 }, (_, i) => ({ id: `call-${i}`, createdAt: firstDay + i * 1_000_000 })),
    )
  })

  test.each([
    ['', 100, { limit: 100, offset: 0 }],
    ['?limit=0', 0, { limit: 0, offset: 0 }],
    ['?limit=0&offset=3', 0, { limit: 0, offset: 3 }],
    ['?limit=1', 1, { limit: 1, offset: 0 }],
    ['?limit=00000000000007', 7, { limit: 7, offset: 0 }],
    ['?limit=1000', 1_000, { limit: 1_000, offset: 0 }],
    ['?limit=1001', 1_000, { limit: 1_000, offset: 0 }],
    ['?limit=999999999999999', 1_000, { limit: 1_000, offset: 0 }],
    ['?limit=1000&offset=1000', 100, { limit: 1_000, offset: 1_000 }],
    ['?offset=1099', 1, { limit: 100, offset: 1_099 }],
    ['?offset=1100', 0, { limit: 100, offset: 1_100 }],
    ['?offset=999999999999999', 0, { limit: 100, offset: 999_999_999_999_999 }],
    ['?limit=%35', 5, { limit: 5, offset: 0 }],
    ['?unknown=1&page=9', 100, { limit: 100, offset: 0 }],
    ['?__proto__=1&constructor=2&limit=2', 2, { limit: 2, offset: 0 }],
    ['?&&=&limit=2&', 2, { limit: 2, offset: 0 }],
  ])('%s gives %i calls', async (query, count, pagination) => {
    const page = await pageOf(project, query)
    expect(page.data).toHaveLength(count)
    const next = count > 0 && pagination.offset + count < 1_100 ? expect.any(String) : null
    expect(page.pagination).toEqual({ total: 1_100, ...pagination, next })
  })

  test.each([
    '1000000000000000',
    '',
    '+1',
    '%2B1',
    '-1',
    '-0',
    '0x10',
    '1.5',
    '1.0',
    '1e2',
    '1_000',
    '%201',
    '1%20',
    '1%00',
    'NaN',
    'null',
    'true',
    '１',
    '٣',
    '1,2',
    '[1]',
    '%FF',
    '%',
  ])('of "%s" is 400 and named', async (value) => {
    for (const field of ['limit', 'offset']) {
      const answer = await project.fetch(`/v1/calls?${field}=${value}`)
      const problem = await expectProblem(answer, 'invalid_request')
      expect(problem.errors).toEqual([{ field, message: 'must be a whole number of at most 15 digits' }])
    }
  })

  test('both wrong are both named; a name without a value is an empty value', async () => {
    const both = await expectProblem(await project.fetch('/v1/calls?limit=x&offset=y'), 'invalid_request')
    expect(both.errors?.map(({ field }) => field)).toEqual(['limit', 'offset'])
    await expectProblem(await project.fetch('/v1/calls?limit'), 'invalid_request')
    await expectProblem(await project.fetch('/v1/calls?limit=2&limit='), 'invalid_request')
  })
})

describe('paging', () => {
  test('of calls from 1970 and 9999 and all on one millisecond', async () => {
    const project = await service.mintProject()
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
    const calls = [0, last, firstDay, firstDay, firstDay].map((createdAt, i) => ({ id: `c${i}`, createdAt }))
    await create(project, calls)
    const pages = await Promise.all(
      [0, 2, 4, 5].map((offset) => pageOf(project, `?limit=2&offset=${offset}`)),
    )
    expect(pages.map(idsOf)).toEqual([['c1', 'c4'], ['c3', 'c2'], ['c0'], []])
  })

  const listed = fc.record({
    id: fc.string({ unit: fc.constantFrom(...'aAzZ09._:-'), minLength: 1, maxLength: 4 }),
    // Few days and few milliseconds, so that both are often shared.
    createdAt: fc
      .tuple(fc.constantFrom(0, 1, 2, 40), fc.constantFrom(0, 1, msPerDay - 1, 5_000))
      .map(([day, ms]) => firstDay + day * msPerDay + ms),
  })
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ create: fc.uniqueArray(listed, { selector: ({ id }) => id, maxLength: 8 }) }),
    },
    { weight: 2, arbitrary: fc.record({ remove: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ touch: fc.nat() }) },
    { weight: 4, arbitrary: fc.record({ limit: fc.integer({ min: 0, max: 12 }), offset: fc.nat(40) }) },
  )

  test('gives what slicing an array gives, whatever is created and deleted in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
        const project = await service.mintProject()
        let calls: Listed[] = []
        const used = new Set<string>()
        for (const action of steps) {
          if ('create' in action) {
            const fresh = action.create.filter(({ id }) => !used.has(id) && !/^\.{1,2}$/.test(id))
            await create(project, fresh)
            for (const { id } of fresh) used.add(id)
            calls = calls.concat(fresh).sort(newestFirst)
          } else if ('remove' in action) {
            const call = calls[action.remove % Math.max(calls.length, 1)]
            if (!call) continue
            await service.services.calls.delete(project.projectId, call.id)
            calls = calls.filter(({ id }) => id !== call.id)
          } else if ('touch' in action) {
            const call = calls[action.touch % Math.max(calls.length, 1)]
            if (call)
              await service.services.ingest.put(project.projectId, call.id, { duration: action.touch })
          } else {
            const { limit, offset } = action
            const page = await pageOf(project, `?limit=${limit}&offset=${offset}`)
            expect(idsOf(page)).toEqual(calls.slice(offset, offset + limit).map(({ id }) => id))
            expect(page.pagination).toMatchObject({ total: calls.length, limit, offset })
          }
        }
        const size = (steps.length % 7) + 1
        const ids: string[] = []
        for (let offset = 0; offset < calls.length; offset += size)
          ids.push(...idsOf(await pageOf(project, `?limit=${size}&offset=${offset}`)))
        expect(ids).toEqual(calls.map(({ id }) => id))
      }),
      runs(20),
    )
  })

  test('while others write gives pages that are true of one moment', async () => {
    const project = await service.mintProject()
    const command = await openCommand(service.dataDir)
    try {
      const calls = Array.from({ length: 300 }, (_, i) => ({
        id: `call-${i}`,
        createdAt: firstDay + i * 9_000_000,
      }))
      await create(project, calls)
      let isWriting = true
      const write = async () => {
        for (let i = 0; i < 30; i++) {
          const late = { createdAt: new Date(firstDay + ((i * 37) % 300) * 9_000_001).toISOString() }
          await command.ingest.put(project.projectId, `late-${i}`, late)
          await command.calls.delete(project.projectId, `late-${i}`)
        }
        isWriting = false
      }
      const read = async () => {
        for (let offset = 7; isWriting; offset = (offset * 31) % 300) {
          const { data, pagination } = await pageOf(project, `?limit=20&offset=${offset}`)
          expect([300, 301]).toContain(pagination.total)
          const length = Math.min(20, pagination.total - offset)
          const times = data.map(({ id, createdAt }) => ({ id, createdAt: Date.parse(createdAt) }))
          expect(times.toSorted(newestFirst)).toEqual(times)
          // One call comes and goes: only its being there can move the others, by one.
          const lates = data.filter(({ id }) => id.startsWith('late')).length
          expect(lates).toBeLessThanOrEqual(1)
          // When it is deleted after the page was cut, and before its documents are read, it is left out.
          expect(lates === 1 ? [length] : [length, length - 1]).toContain(data.length)
          const first = Number(data.find(({ id }) => id.startsWith('call'))?.id.slice(5))
          expect([299 - offset, 300 - offset]).toContain(first)
        }
      }
      await Promise.all([write(), read(), read()])
    } finally {
      await command.close()
    }
  })
})

describe('a page that weighs more than is answered at once', () => {
  const filler = 'x'.repeat(700_000)

  async function heavyProject(count: number): Promise<{ project: TestProject; documents: string[] }> {
    const project = await service.mintProject()
    const documents: string[] = []
    for (let i = 0; i < count; i++) {
      const change = {
        callAnalysis: { text: `${i} ${filler}` },
        createdAt: new Date(firstDay + i * msPerDay).toISOString(),
      }
      const { document } = await service.services.ingest.put(project.projectId, `call-${i}`, change)
      documents.unshift(document.toString())
    }
    return { project, documents }
  }

  test('is the same bytes', async () => {
    const { project, documents } = await heavyProject(16)
    const text = await (await project.fetch('/v1/calls')).text()
    const tail = '],"pagination":{"total":16,"limit":100,"offset":0,"next":null}}'
    expect(text === `{"data":[${documents.join(',')}${tail}`).toBe(true)
    const part = await (await project.fetch('/v1/calls?limit=14&offset=1')).text()
    const partTail = '],"pagination":{"total":16,"limit":14,"offset":1,"next":"'
    expect(part.startsWith(`{"data":[${documents.slice(1, 15).join(',')}${partTail}`)).toBe(true)
  })

  /** Reads the beginning of the page, does something, and reads on. */
  async function pageAround(project: TestProject, meanwhile: () => Promise<void>): Promise<Page> {
    // Compressed, so uniform a page would be sent as a whole before the client reads.
    const answer = await project.fetch('/v1/calls', { headers: { 'Accept-Encoding': 'identity' } })
    const reader = answer.body?.getReader()
    if (!reader) throw new Error('The page has no body')
    const parts: Uint8Array[] = []
    let isInterrupted = false
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return JSON.parse(Buffer.concat(parts).toString())
      parts.push(value)
      if (!isInterrupted) await meanwhile()
      isInterrupted = true
    }
  }

  test('leaves out a call that is deleted while it is sent, and is still JSON', async () => {
    const { project } = await heavyProject(40)
    const page = await pageAround(project, async () => {
      await project.fetch('/v1/calls/call-0', { method: 'DELETE' })
    })
    expect(idsOf(page)).toEqual(Array.from({ length: 39 }, (_, i) => `call-${39 - i}`))
    expect(page.pagination.total).toBe(40)
    // The oldest are the last to be sent, so deleting nearly all leaves a beginning of the page.
    const rest = await pageAround(project, async () => {
      for (let i = 1; i < 39; i++) await service.services.calls.delete(project.projectId, `call-${i}`)
    })
    expect(idsOf(rest)).toEqual(Array.from({ length: rest.data.length }, (_, i) => `call-${39 - i}`))
    expect(rest.data.length).toBeLessThan(39)
    expect(idsOf(await pageOf(project))).toEqual(['call-39'])
  })

  test('gives a call that changes meanwhile as it was or as it is, whole', async () => {
    const { project } = await heavyProject(40)
    const page = await pageAround(project, async () => {
      for (const i of [0, 20])
        await project.send('PUT', `/ingest/calls/call-${i}`, { callAnalysis: null, duration: 5 })
    })
    expect(page.data).toHaveLength(40)
    for (const { callAnalysis, duration } of page.data) {
      expect(callAnalysis === null).toBe(duration === 5)
      if (duration === 0) expect(String(callAnalysis?.text).endsWith(filler)).toBe(true)
    }
    expect(page.data.at(-1)?.callAnalysis).toBeNull()
  })
})

describe('a page of half a gigabyte', () => {
  const count = 1_000
  const docChars = 524_000
  /** The service's own 60 MB, a few slices, and what the garbage collector has not come to yet. */
  const residentMbMax = 300

  let server: ServiceProcess
  let command: Services
  let key: string
  let dataDir: string
  /** Documents as they are stored, with a word in the place of the half megabyte. */
  let documents: string[]

  beforeAll(async () => {
    dataDir = freshFolder()
    command = await openCommand(dataDir)
    const { projectId } = await command.projects.create('heavy')
    const options = { name: 'k', allowedIps: [], expiresAt: null }
    key = (await command.keys.create(projectId, { ...options, kind: 'live' })).key
    const inputs = Array.from({ length: count }, (_, i) => ({
      id: `call-${i}`,
      change: { summary: 'FILL', createdAt: new Date(firstDay + i * 1_000_000).toISOString() },
    }))
    await command.ingest.putAll(projectId, inputs)
    const stored = await Promise.all(inputs.map(({ id }) => command.calls.get(projectId, id)))
    documents = stored.map(({ document }) => Buffer.from(document).toString()).reverse()
    await fill(command)
    server = await spawnService({ DATA_DIR: dataDir, LOG_LEVEL: 'error' })
  })

  afterAll(async () => {
    await command.close()
  })

  /** Grown inside the database: sending that much through ingest takes half a minute. */
  async function fill({ database: { write } }: Services): Promise<void> {
    const text = sql`replace(hex(zeroblob(${docChars / 2})), '0', 'x')`
    for (let part = 0; part < 10; part++)
      await write.batch({
        documents: sql`
          update call_documents set document = replace(document, 'FILL', ${text}) where seq % 10 = ${part}`,
        heads: sql`update calls set document_chars = document_chars + ${docChars} where seq % 10 = ${part}`,
      })
    await write.run(sql`pragma wal_checkpoint(truncate)`)
  }

  function residentMb(): number {
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
    return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) / 1_024
  }

  function openFiles(): number {
    return readdirSync(`/proc/${server.pid}/fd`).length
  }

  function get(init: RequestInit = {}): Promise<Response> {
    return fetch(`${server.url}/v1/calls?limit=1000`, {
      headers: { authorization: `Bearer ${key}` },
      ...init,
    })
  }

  async function expectAnswers(): Promise<void> {
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  }

  /** The bytes that the page must be, in pieces. */
  function* expectedPage(): Generator<Buffer> {
    const filler = Buffer.alloc(docChars, 'x')
    yield Buffer.from('{"data":[')
    for (const [i, document] of documents.entries()) {
      const [before = '', after = ''] = document.split('FILL')
      yield Buffer.from(i === 0 ? before : `,${before}`)
      yield filler
      yield Buffer.from(after)
    }
    yield Buffer.from(`],"pagination":{"total":${count},"limit":1000,"offset":0,"next":null}}`)
  }

  /** Compares a stream with pieces as it comes; false from the first byte that differs. */
  function comparison(pieces: Iterator<Buffer>) {
    let piece: Buffer = Buffer.alloc(0)
    return {
      isNext(bytes: Uint8Array): boolean {
        let rest = bytes
        while (rest.length > 0) {
          if (piece.length === 0) {
            const { done, value } = pieces.next()
            if (done) return false
            piece = value
          }
          const length = Math.min(piece.length, rest.length)
          if (!piece.subarray(0, length).equals(rest.subarray(0, length))) return false
          piece = piece.subarray(length)
          rest = rest.subarray(length)
        }
        return true
      },
      isOver: () => piece.length === 0 && pieces.next().done === true,
    }
  }

  test('reaches a slow client whole, from a process whose memory stays bounded', async () => {
    const before = residentMb()
    const answer = await get()
    expect(answer.status).toBe(200)
    const expected = comparison(expectedPage())
    let isEqual = true
    let reads = 0
    let residentMbPeak = 0
    for await (const bytes of answer.body ?? []) {
      isEqual &&= expected.isNext(bytes)
      if (reads < 20) await Bun.sleep(50)
      if (reads++ % 50 === 0) residentMbPeak = Math.max(residentMbPeak, residentMb())
    }
    expect(isEqual).toBe(true)
    expect(expected.isOver()).toBe(true)
    console.log(
      `page of 0.5 GB: ${Math.round(before)} MB resident before, at most ${Math.round(residentMbPeak)} MB`,
    )
    expect(residentMbPeak).toBeLessThan(residentMbMax)
  })

  test('that clients ask for and do not read blocks no one and fills no memory', async () => {
    const filesBefore = openFiles()
    const sockets = Array.from({ length: 20 }, () => askAndNotRead(server.url, key))
    let residentMbPeak = 0
    for (let i = 0; i < 10; i++) {
      await Bun.sleep(150)
      residentMbPeak = Math.max(residentMbPeak, residentMb())
      await expectAnswers()
    }
    for (const socket of sockets) socket.destroy()
    console.log(`20 clients that do not read: at most ${Math.round(residentMbPeak)} MB resident`)
    expect(residentMbPeak).toBeLessThan(residentMbMax)
    await until(() => openFiles() <= filesBefore + 2)
  })

  test('that clients leave in the middle is let go of', async () => {
    const filesBefore = openFiles()
    let residentMbPeak = 0
    for (let round = 0; round < 12; round++) {
      const leaving = new AbortController()
      const answer = await get({ signal: leaving.signal })
      await answer.body?.getReader().read()
      leaving.abort()
      residentMbPeak = Math.max(residentMbPeak, residentMb())
    }
    console.log(`12 clients that leave: at most ${Math.round(residentMbPeak)} MB resident`)
    expect(residentMbPeak).toBeLessThan(residentMbMax)
    await until(() => openFiles() <= filesBefore + 2)
    await expectAnswers()
    const one = await fetch(`${server.url}/v1/calls?limit=0`, { headers: { authorization: `Bearer ${key}` } })
    expect(await one.json()).toMatchObject({ pagination: { total: count } })
  })
})

function askAndNotRead(url: string, key: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const lines = ['GET /v1/calls?limit=1000 HTTP/1.1', `Host: ${hostname}`, `Authorization: Bearer ${key}`]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  socket.pause()
  return socket
}
