import type { SearchMode } from '../../../src/knowledge/schemas.ts'
import type { Search } from '../../../src/knowledge/search/search.ts'
import { cachedDataset, withServices } from '../../dataset.ts'
import { createRandom } from '../../random.ts'
import { ask } from '../../requests.ts'
import { atMost, formatCount, type Row, row } from '../figures.ts'
import { percentile } from '../load.ts'
import type { Options } from '../runner.ts'
import { mean, type Quality, qualityOf, rankOf } from './ranks.ts'
import { answersOf, type QuestionSet, readQuestionSets, spread, storeSet } from './sets.ts'

const questionsMax = 500
const comparedHits = 5
const timeoutMs = 10_000
/** How far a search within a filter may stay behind one in a project of its own. */
const behindMax = 0.01

const chunksPerItem = 100
const sentencesPerChunk = 6
const shares = [0.01, 0.04, 0.2, 0.6]
/** The share whose time is bounded, and its most milliseconds. */
const bounded = { share: 0.04, p95Ms: 25 }
const warmUpCount = 50
const timedCount = 300

/** The sets that are stored together: those whose questions are in the language of their titles. */
const isTogether = ({ name }: QuestionSet) => !name.startsWith('xquad')

interface Found {
  ranks: (number | null)[]
  /** The first hits of each question. */
  hits: string[][]
  coverages: number[]
}

/** The questions of each set, asked of a project of its own and within a filter of a project with all sets. */
export async function benchFiltered({ data }: Options): Promise<Row[]> {
  const sets = readQuestionSets(data).filter(isTogether)
  if (sets.length === 0) return [row('question sets', 'not measured: no folder of data with retrieval/')]
  const together = await cachedDataset('retrieval-together', async (services, projectId) => {
    for (const set of sets) await storeSet(services, projectId, set)
  })
  const passages = sets.reduce((sum, set) => sum + set.passages.length, 0)
  const rows: Row[] = []
  for (const { questions, ...set } of sets) {
    const asked = { ...set, questions: spread(questions, questionsMax) }
    const own = await cachedDataset(`ranking-${set.name}`, (services, projectId) =>
      storeSet(services, projectId, asked),
    )
    for (const mode of ['keyword', 'vector'] as const) {
      const find = (each: typeof own, itemIds?: string[]) =>
        withServices(each.folder, ({ search }) => findAll(search, each.projectId, asked, { mode, itemIds }))
      const [alone, filtered] = [
        await find(own),
        await find(
          together,
          asked.passages.map(({ doc_id }) => doc_id),
        ),
      ]
      rows.push(
        compare(
          `${set.name}, ${formatCount((100 * set.passages.length) / passages)} %, ${mode}`,
          alone,
          filtered,
        ),
      )
    }
  }
  return rows
}

async function findAll(
  search: Search,
  projectId: number,
  { questions }: QuestionSet,
  request: { mode: SearchMode; itemIds: string[] | undefined },
): Promise<Found> {
  const found: Found = { ranks: [], hits: [], coverages: [] }
  const { itemIds, mode } = request
  for (const question of questions) {
    const { query } = question
    const { answer } = await search.search(projectId, {
      query,
      mode,
      timeoutMs,
      limit: 10,
      ...(itemIds ? { itemIds } : {}),
    })
    const ids = answer.data.map(({ itemId }) => itemId)
    found.ranks.push(rankOf(answersOf(question), ids))
    found.hits.push(ids.slice(0, comparedHits))
    found.coverages.push(answer.coverage ?? 0)
  }
  return found
}

function compare(what: string, alone: Found, filtered: Found): Row {
  const [own, within] = [qualityOf(alone.ranks), qualityOf(filtered.ranks)]
  const shared = alone.hits.flatMap((ids, at) =>
    ids.length > 0 ? [ids.filter((id) => filtered.hits[at]?.includes(id)).length / ids.length] : [],
  )
  const apart = mean(
    alone.coverages.map((coverage, at) => Math.abs(coverage - (filtered.coverages[at] ?? 0))),
  )
  const text = ({ hit1, hit5 }: Quality) => `${hit1.toFixed(3)} · ${hit5.toFixed(3)}`
  return row(
    what,
    `alone ${text(own)}, filtered ${text(within)}, overlap of the first five ${mean(shared).toFixed(3)}, ` +
      `coverage ${apart.toFixed(3)} apart`,
    `within ${behindMax} of alone`,
    within.hit1 >= own.hit1 - behindMax && within.hit5 >= own.hit5 - behindMax,
  )
}

/** How long a search within a filter takes, of one project with many chunks. */
export async function benchFilteredSpeed({ texts, chunks, start }: Options): Promise<Row[]> {
  const random = createRandom(61)
  const any = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]
  const sentences = texts.passages.flatMap(({ text }) => text.split(/(?<=[.?!])\s+/))
  const times = <Value>(count: number, make: (index: number) => Value) =>
    Array.from({ length: count }, (_, n) => make(n))
  const passages = times(Math.ceil(chunks / chunksPerItem), (n) => ({
    doc_id: `item-${n}`,
    title: `${any(texts.passages)?.title} ${n}`,
    text: times(
      chunksPerItem,
      (at) => `## Section ${at}\n\n${times(sentencesPerChunk, () => any(sentences)).join(' ')}`,
    ).join('\n\n'),
  }))
  const { folder, key } = await cachedDataset(`filtered-${chunks}-${texts.kind}`, (services, projectId) =>
    storeSet(services, projectId, { passages }),
  )
  const { url } = await start(folder, {})
  const asked = spread(texts.questions, warmUpCount + timedCount)
  const rows: Row[] = []
  for (const share of shares) {
    const itemIds = passages.filter((_, n) => n % 100 < share * 100).map(({ doc_id }) => doc_id)
    for (const mode of ['hybrid', 'vector'] as const) {
      const took: number[] = []
      let late = 0
      for (const query of asked) {
        const startedAt = performance.now()
        const answer = await ask<{ mode: SearchMode }>(url, {
          path: '/v1/knowledge/search',
          key,
          body: { query, mode, itemIds },
        })
        took.push(performance.now() - startedAt)
        if (answer.mode !== mode) late++
      }
      const timed = took.slice(warmUpCount).sort((a, b) => a - b)
      const [p50, p95] = [percentile(timed, 0.5), percentile(timed, 0.95)]
      const what = `${mode}, p95 within ${100 * share} % of ${formatCount(chunks)} chunks`
      const more = `, p50 ${formatCount(p50)} ms, ${late} of ${asked.length} by keyword alone`
      rows.push(
        share === bounded.share
          ? atMost(what, p95, bounded.p95Ms, 'ms', more)
          : row(what, `${formatCount(p95)} ms${more}`, 'none by keyword alone', late === 0),
      )
    }
  }
  return rows
}
