import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../../src/db/reader.ts'
import { segmentOf } from '../../../src/db/word-segments.ts'
import { KeywordSearch } from '../../../src/knowledge/search/keyword.ts'
import { labelsOfItems, readPassages } from '../../../src/knowledge/search/passages.ts'
import { bestOf, RankedTerms } from '../../../src/knowledge/search/ranked-terms.ts'
import { readChunkSegments } from '../../../src/knowledge/search/word-queries.ts'
import fc from '../../support/fast-check.ts'
import { startService, type TestProject } from '../../support/service.ts'
import { seededRandom } from '../indexing/index/knowledge.ts'

interface Asked {
  sql: string
  params: unknown[]
}

interface More {
  labels?: number[]
  inHurry?: boolean
  atLeast?: number
}

const service = await startService()

/** Keyword search of its own, with what it asks the database and a clock that the test sets. */
function searching(project: TestProject) {
  const asked: Asked[] = []
  const clock = { ms: 1 }
  const store = {
    ...service.services.database,
    readForSearch: recording(service.services.database.readForSearch, asked),
  }
  const keyword = new KeywordSearch({ store: () => store, now: () => clock.ms })
  const search = (query: string, more: More = {}) => {
    asked.length = 0
    const { labels, inHurry = false, atLeast } = more
    const options = { labels, inHurry, ...(atLeast ? { atLeast } : {}) }
    return keyword.search(project.projectId, query, options)
  }
  const find = async (query: string, more: More = {}) => {
    const found = (await search(query, more)).labels
    return (await readPassages(store.readForSearch, project.projectId, found)).passages
  }
  const textsIn = ({ params }: Asked) => params.filter((value) => typeof value === 'string')
  /** The words that were counted by the last search, as stems. */
  const counted = () =>
    countings()
      .flatMap((query) => textsIn(query).flatMap((matches): string[] => JSON.parse(matches)))
      .map((match) => match.replace(/^"\d+x(.*)"$/, '$1'))
  const countings = () => asked.filter(({ sql }) => sql.includes('max(record)'))
  /** The words whose ranks were read by the last search, as stems. */
  const ranked = () =>
    asked
      .filter(({ sql }) => sql.includes('chunk_places'))
      .flatMap((query) => textsIn(query).flatMap((terms): string[][] => JSON.parse(terms)))
      .map(([from = '']) => from.replace(/^\d+x/, ''))
  return { search, find, counted, countings, ranked, clock }
}

/** The database, noting each prepared query that is run for all its rows. */
function recording(read: ReadDatabase, asked: Asked[]): ReadDatabase {
  const noting = <Builder extends object>(builder: Builder): Builder =>
    new Proxy(builder, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const result = value.apply(target, args)
          if (name !== 'prepare')
            return result !== null && typeof result === 'object' ? noting(result) : result
          const { sql }: Asked = Reflect.get<object, string>(target, 'toSQL').call(target)
          const all = (values: Record<string, unknown>) => {
            asked.push({ sql, params: Object.values(values) })
            return result.all(values)
          }
          return { get: (values: unknown) => result.get(values), all }
        }
      },
    })
  return new Proxy(read, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const result = value.apply(target, args)
        return name === 'select' ? noting(result) : result
      }
    },
  })
}

async function add(project: TestProject, name: string, text: string): Promise<string> {
  const { item } = await service.services.knowledge.store(project.projectId, { name, text })
  return item.id
}

describe('how many chunks have a word', () => {
  test('is counted once in five minutes', async () => {
    const project = await service.mintProject()
    await add(project, 'Refunds', 'We refund orders.')
    const { find, counted, clock } = searching(project)
    const pass = async (ms: number) => {
      clock.ms += ms
      // The cache reads the clock once in a millisecond.
      await Bun.sleep(10)
    }
    await find('refund orders')
    expect(counted()).toEqual(['refund', 'order'])
    await pass(299_000)
    await find('orders refund')
    expect(counted()).toEqual([])
    await pass(2_000)
    await find('refund')
    expect(counted()).toEqual(['refund'])
  })

  test('is counted for all words of a query in one round trip to the database', async () => {
    const project = await service.mintProject()
    await add(project, 'Refunds', 'We refund orders to the card that paid for them, within a week.')
    const { find, counted, countings } = searching(project)
    expect(await find('refund orders card paid week warranty')).toHaveLength(1)
    expect(counted()).toHaveLength(6)
    expect(countings()).toHaveLength(1)
  })

  test('is not cached for a word that no chunk has, so a chunk added later is found at once', async () => {
    const project = await service.mintProject()
    await add(project, 'Refunds', 'We refund orders.')
    const { find, counted } = searching(project)
    for (let n = 0; n < 2; n++) {
      expect(await find('warranty')).toEqual([])
      expect(counted()).toEqual(['warranti'])
    }
    await add(project, 'Warranty', 'The warranty lasts a year.')
    expect((await find('warranty')).map(({ name }) => name)).toEqual(['Warranty'])
  })

  test('is each project’s own', async () => {
    const [one, other] = [await service.mintProject(), await service.mintProject()]
    await add(one, 'Refunds', 'We refund orders.')
    const both = searching(one)
    await both.find('refund')
    expect(await searching(other).find('refund')).toEqual([])
    await add(other, 'Other refunds', 'They refund nothing.')
    expect((await searching(other).find('refund')).map(({ name }) => name)).toEqual(['Other refunds'])
  })

  test('may be out of date: chunks added later are still found', async () => {
    const project = await service.mintProject()
    await add(project, 'One', 'A refund.')
    const { find } = searching(project)
    await find('refund')
    for (let n = 0; n < 30; n++) await add(project, `More ${n}`, 'Another refund.')
    expect((await find('refund')).length).toBe(31)
  })
})

describe('how well chunks rank for a word', () => {
  test('is read once, and again when the knowledge has changed', async () => {
    const project = await service.mintProject()
    await add(project, 'Shop', 'We refund orders.')
    const { find, ranked } = searching(project)
    const names = async (query: string) => (await find(query)).map(({ name }) => name)
    expect([await names('refund orders'), ranked()]).toEqual([['Shop'], ['refund', 'order']])
    expect([await names('orders refund'), ranked()]).toEqual([['Shop'], []])
    const added = await add(project, 'More', 'Another refund.')
    expect([await names('refund'), ranked()]).toEqual([['More', 'Shop'], ['refund']])
    expect([await names('refund orders'), ranked()]).toEqual([['Shop', 'More'], ['order']])
    await service.services.knowledge.delete(project.projectId, added)
    expect([await names('refund'), ranked()]).toEqual([['Shop'], ['refund']])
  })

  test('for several words is what FTS5 itself says', async () => {
    const project = await service.mintProject()
    const random = fc.sample(fc.array(fc.nat({ max: 40 }), { minLength: 3, maxLength: 40 }), 150)
    for (const [n, words] of random.entries())
      await add(project, `Item ${n}`, words.map((word) => `w${word}`).join(' '))
    const { projectId } = project
    const { read, write } = service.services.database
    // A table of the project's own, beside those that it shares.
    await write.run(sql`create virtual table own_words using fts5(words, tokenize='ascii')`)
    await write.run(sql`
      insert into own_words (rowid, words)
      select label, name || ' ' || coalesce(heading, '') || ' ' || chunks.text
      from chunks join knowledge_items on seq = item_seq where chunks.project_id = ${projectId}`)
    const ranked = new RankedTerms()
    const segments = await readChunkSegments(read, projectId)
    for (const words of fc.sample(
      fc.uniqueArray(fc.nat({ max: 45 }), { minLength: 1, maxLength: 12 }),
      100,
    )) {
      const rows = await read.all<{ label: number }>(sql`
        select rowid as label from own_words
        where own_words match ${words.map((word) => `"w${word}"`).join(' OR ')} order by rank`)
      const terms = words.map((word) => ({ from: `${projectId}xw${word}`, to: `${projectId}xw${word}` }))
      const labels = rows.map(({ label }) => label)
      expect(bestOf(await ranked.read(read, projectId, terms, segments), 40)).toEqual(labels.slice(0, 40))
    }
  })
})

describe('a project in which nearly all chunks have the same words', () => {
  let project: TestProject
  let last: string

  beforeAll(async () => {
    project = await service.mintProject()
    const line = (n: number) =>
      `The order of our shop, number n${n}, is on its way to the customer. ${'x'.repeat(1_100)}`
    for (let part = 0; part < 6; part++) {
      const lines = Array.from({ length: 800 }, (_, n) => line(part * 800 + n))
      last = await add(project, `Part ${part}`, lines.join('\n\n'))
    }
  })

  test('answers a query of common words only', async () => {
    const { find, ranked } = searching(project)
    expect((await find('the order of our shop')).length).toBeGreaterThanOrEqual(40)
    // Ranking all that have them would take as long as there are many.
    expect(ranked()).toEqual([])
  })

  test('ranks by the rare words only, and puts passages with them first', async () => {
    const { find, ranked } = searching(project)
    const found = await find('where is the order number n3210')
    expect(found[0]?.text).toContain('number n3210,')
    expect(ranked()).toEqual(['n3210'])
  })

  test('stays within the labels asked for, also by common words', async () => {
    const { find } = searching(project)
    const all = await find('n4001 OR n4002 order', { atLeast: 10 })
    const labels = all.slice(0, 3).map(({ label }) => label)
    for (const query of ['the order', 'n4001', 'n4001 order', 'shop way customer the of our']) {
      const found = await find(query, { labels })
      expect(found.length).toBeGreaterThan(0)
      expect(found.filter(({ label }) => !labels.includes(label))).toEqual([])
    }
    expect(await find('the order', { labels: [] })).toEqual([])
    expect(await find('the order', { labels: [Number.MAX_SAFE_INTEGER] })).toEqual([])
  })

  test('finds within a filter what a project of these items alone finds, in its order, and covers as much', async () => {
    const own = await service.mintProject()
    // What is rare here is common in the other items, and the reverse.
    const rare = ['order', 'shop', 'number', 'way', 'customer']
    const common = ['counter', 'hall', 'desk', 'visitor', 'queue']
    const random = seededRandom(7)
    const ids: string[] = []
    const { read, write } = service.services.database
    for (let n = 0; n < 60; n++) {
      // The second half goes into another segment of the keyword index.
      if (n === 30)
        await write.run(sql`update sqlite_sequence set seq = ((seq >> 13) + 1) << 13 where name = 'chunks'`)
      const words = [
        ...common.filter(() => random() < 0.9),
        ...rare.filter(() => random() < 0.1),
        ...Array.from({ length: 12 }, () => `m${Math.floor(random() * 400)}`),
      ]
      const text = words.toSorted(() => random() - 0.5).join(' ')
      ids.push(await add(project, `Part ${n}`, text))
      await add(own, `Part ${n}`, text)
    }
    const labels = await labelsOfItems(read, project.projectId, ids)
    expect(new Set(labels.map(segmentOf)).size).toBe(2)
    const [filtered, alone] = [searching(project), searching(own)]
    for (const query of [
      ...rare.flatMap((word, at) => [`${word} ${common[at]}`, `${word} ${common[4 - at]} m${at}`]),
      'shop counter customer',
      'order counter hall desk visitor queue',
    ]) {
      const texts = (passages: { text: string }[]) => passages.map(({ text }) => text).slice(0, 5)
      expect({ query, texts: texts(await filtered.find(query, { labels })) }).toEqual({
        query,
        texts: texts(await alone.find(query)),
      })
      const { coverage } = await filtered.search(query, { labels })
      expect(coverage).toBeCloseTo((await alone.search(query)).coverage ?? 0, 2)
    }
  })

  test('looks at fewer passages in a hurry, but at as many as are asked for', async () => {
    const { find } = searching(project)
    expect((await find('the order', { inHurry: true })).length).toBe(9)
    expect((await find('the order', { inHurry: true, atLeast: 50 })).length).toBe(50)
    expect((await find('where is the order number n3210', { inHurry: true }))[0]?.text).toContain('n3210,')
  })

  test('fills an answer of fifty, by itself and within one item', async () => {
    for (const itemIds of [undefined, [last]]) {
      for (const query of ['the order', 'where is the order of the customer']) {
        const answer = await project.send('POST', '/v1/knowledge/search', {
          query,
          mode: 'keyword',
          limit: 50,
          // In a hurry neighbours that belong together come instead of others.
          timeoutMs: 10_000,
          ...(itemIds ? { itemIds } : {}),
        })
        const { data }: { data: { itemId: string; position: number }[] } = await answer.json()
        expect(data.length).toBe(50)
        expect(new Set(data.map(({ itemId, position }) => `${itemId} ${position}`)).size).toBe(50)
        if (itemIds) expect(new Set(data.map(({ itemId }) => itemId))).toEqual(new Set(itemIds))
      }
    }
  })
})
