import type { SearchMode } from '../../../src/knowledge/schemas.ts'
import { latencyOf } from '../paced.ts'
import type { Running } from '../processes.ts'
import { addItems, createProject, type Project } from '../project.ts'
import type { Options } from '../runner.ts'
import type { Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { searchByPlainBm25 } from './plain-bm25.ts'
import { type Quality, qualityOf, rankOf } from './ranks.ts'
import { type SearchResult, startSearching } from './searching.ts'
import { answersOf, nameOf, type QuestionSet, readQuestionSets } from './sets.ts'

const modes: SearchMode[] = ['keyword', 'vector', 'hybrid']
const limit = 10
/** Long enough that every answer has the requested mode. */
const timeoutMs = 10_000
const secondsMax = 900
const warmUpCount = 100
const squadAtLeast = { hit1: 0.855, hit5: 0.96 }

/** An embedder's name in the table, and the settings that select it. */
interface EmbedderChoice {
  name: string
  environment: Record<string, string>
}

/** One part of a set in one mode, or by plain BM25. */
interface Measured {
  part: string
  mode: SearchMode | 'plain BM25'
  questions: number
  quality: Quality
  result: Pick<SearchResult, 'latenciesMs' | 'failed' | 'modes'>
}

const builtin: EmbedderChoice = { name: 'builtin', environment: {} }

/** How often the right passage is among the first hits, for each set and each configured embedder. */
export async function benchQuality(_: Texts, options: Options): Promise<Row[]> {
  const sets = readQuestionSets(options.data)
  if (sets.length === 0) return [unmeasured('quality', 'no folder of data with retrieval/')]
  const huggingFace = configuredHuggingFace()
  const rows: Row[] = []
  for (const embedder of [builtin, ...(huggingFace ? [huggingFace] : [])])
    for (const set of sets) rows.push(...(await measureSet(set, embedder, options)))
  if (!huggingFace) rows.push(unmeasured('Hugging Face', 'neither HF_TOKEN nor EMBEDDING_ENDPOINT is set'))
  return rows
}

function unmeasured(what: string, why: string): Row {
  return { what, measured: `not measured: ${why}`, target: '', isMet: null }
}

function configuredHuggingFace(): EmbedderChoice | null {
  const { HF_TOKEN, EMBEDDING_ENDPOINT, EMBEDDING_MODEL } = process.env
  if (!HF_TOKEN && !EMBEDDING_ENDPOINT) return null
  const environment: Record<string, string> = { EMBEDDING_PROVIDER: 'huggingface' }
  if (HF_TOKEN) environment.HF_TOKEN = HF_TOKEN
  if (EMBEDDING_ENDPOINT) environment.EMBEDDING_ENDPOINT = EMBEDDING_ENDPOINT
  if (EMBEDDING_MODEL) environment.EMBEDDING_MODEL = EMBEDDING_MODEL
  return { name: 'Hugging Face', environment }
}

/** Measures each mode, and plain BM25. */
async function measureSet(
  set: QuestionSet,
  { name, environment }: EmbedderChoice,
  { main, start }: Options,
): Promise<Row[]> {
  const project = await createProject(main)
  const service = await start(project, environment)
  const measured = measurePlain(set)
  const itemIds = await addPassages(service, project, set)
  for (const mode of modes) measured.push(...(await measureMode(service, project, set, itemIds, mode)))
  await service.stop()
  return partsOf(set).flatMap((part) => rowsOf(part, measured, name))
}

/** Returns the ids of the items by the ids of their passages. */
async function addPassages(
  service: Running,
  project: Project,
  { passages }: QuestionSet,
): Promise<Map<string, string>> {
  const items = passages.map((passage, index) => ({ name: nameOf(passage, index), text: passage.text }))
  const ids = await addItems(service, project, items)
  return new Map(passages.map(({ doc_id }, index) => [doc_id, ids[index] ?? '']))
}

async function measureMode(
  { url }: Running,
  { key }: Project,
  set: QuestionSet,
  itemIds: Map<string, string>,
  mode: SearchMode,
): Promise<Measured[]> {
  const searches = set.questions.map(({ query }) => ({ query, limit, mode, timeoutMs }))
  const result = await startSearching({
    url,
    key,
    // Not the measured questions: the service would cache their vectors.
    warmUp: searches.slice(0, warmUpCount).map((search) => ({ ...search, query: `${search.query} Anyone?` })),
    rounds: [searches],
    secondsMax,
    keepsAnswers: true,
  }).done
  const ranks = set.questions.map((question, index) => {
    const answers = answersOf(question).flatMap((id) => itemIds.get(id) ?? [])
    return rankOf(answers, result.answers[index] ?? [])
  })
  return byPart(set, mode, ranks, result)
}

function measurePlain(set: QuestionSet): Measured[] {
  const { found, latenciesMs } = searchByPlainBm25(set)
  const ranks = set.questions.map((question, index) =>
    rankOf(
      answersOf(question),
      (found[index] ?? []).map((itemId) => ({ itemId })),
    ),
  )
  return byPart(set, 'plain BM25', ranks, { latenciesMs, failed: 0, modes: {} })
}

function partsOf({ name, questions }: QuestionSet): string[] {
  return [...new Set(questions.map(({ set }) => set ?? name))]
}

function byPart(
  set: QuestionSet,
  mode: Measured['mode'],
  ranks: (number | null)[],
  result: Measured['result'],
): Measured[] {
  return partsOf(set).map((part) => {
    const own = ranks.filter((_, index) => (set.questions[index]?.set ?? set.name) === part)
    return { part, mode, questions: own.length, quality: qualityOf(own), result }
  })
}

function rowsOf(part: string, measured: Measured[], embedder: string): Row[] {
  const ofPart = measured.filter((each) => each.part === part)
  const qualityBy = (mode: Measured['mode']) => ofPart.find((each) => each.mode === mode)?.quality
  const [plain, keyword, hybrid] = [qualityBy('plain BM25'), qualityBy('keyword'), qualityBy('hybrid')]
  if (!plain || !keyword || !hybrid) return []
  const least = part === 'squad' ? squadAtLeast : plain
  const rows = ofPart.map((each): Row => {
    const isJudged = each.mode === 'hybrid'
    return {
      what: `${part}, ${each.mode}, ${each.questions.toLocaleString('en')} questions${each.mode === 'plain BM25' ? '' : ` (${embedder})`}`,
      measured: `${formatQuality(each.quality)}; ${formatTimes(each)}`,
      target: isJudged ? `hit ≥ ${least.hit1.toFixed(3)}, ${least.hit5.toFixed(3)}` : 'reported',
      isMet: isJudged ? isAtLeast(hybrid, least) && each.result.failed === 0 : null,
    }
  })
  if (part !== 'squad') return rows
  const gains = [hybrid.hit1 - keyword.hit1, hybrid.hit5 - keyword.hit5]
  rows.push({
    what: '  hybrid against keyword alone',
    measured: gains
      .map((gain, index) => `hit@${index ? 5 : 1} ${gain < 0 ? '' : '+'}${gain.toFixed(3)}`)
      .join(', '),
    target: 'neither below',
    isMet: isAtLeast(hybrid, keyword),
  })
  return rows
}

function isAtLeast(quality: Quality, least: Pick<Quality, 'hit1' | 'hit5'>): boolean {
  return quality.hit1 >= least.hit1 && quality.hit5 >= least.hit5
}

function formatQuality({ hit1, hit5, mrr10 }: Quality): string {
  return `hit@1 ${hit1.toFixed(3)}, hit@5 ${hit5.toFixed(3)}, MRR@10 ${mrr10.toFixed(3)}`
}

function formatTimes({ mode, result }: Measured): string {
  const { p50, p99, failed } = latencyOf([result])
  const others = Object.entries(result.modes).filter(([used]) => used !== mode)
  const degraded = others.map(([used, count]) => `, ${count} ANSWERED BY ${used}`).join('')
  return `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)} ms${failed > 0 ? `, ${failed} FAILED` : ''}${degraded}`
}
