import { parseArgs } from 'node:util'
import { rankWeights } from '../../src/knowledge/search/rank-passages.ts'
import { type Measured, measure } from './ranking/measure.ts'
import { readSamples, type Sample } from './ranking/samples.ts'
import { type Judge, tune } from './ranking/tuning.ts'
import { searchByPlainBm25 } from './retrieval/plain-bm25.ts'
import { type Quality, qualityOf, rankOf } from './retrieval/ranks.ts'
import { answersOf, type QuestionSet, readQuestionSets } from './retrieval/sets.ts'
import { findRealData } from './runner.ts'

// Measures the order that search gives on every question set, beside plain BM25. With --tune, also finds the weights
// that are best over all sets, and measures each set with weights found without it.

const { values } = parseArgs({ options: { tune: { type: 'boolean', default: false } } })
/** Questions of a set to tune with, evenly spread. */
const tunedQuestionsMax = 500

const sets = readQuestionSets(findRealData())
const samples = new Map<string, Sample[]>()
for (const set of sets) {
  const own = await readSamples(set)
  samples.set(set.name, own)
  const { keyword, hybrid } = measure(own, rankWeights)
  write(set.name, { 'plain BM25': plain(set), keyword, hybrid })
}
if (values.tune) tuneAll()
process.exit(0)

function tuneAll(): void {
  const few = new Map([...samples].map(([name, own]) => [name, spread(own)]))
  const judged = new Map<string, Measured>()
  const measured = (set: string, weights: typeof rankWeights) => {
    const key = `${set} ${JSON.stringify(weights)}`
    const known = judged.get(key) ?? measure(few.get(set) ?? [], weights)
    judged.set(key, known)
    return known
  }
  const judge: Judge = (set, weights) => {
    const { hit1, hit5, mrr10 } = measured(set, weights).keyword
    return (hit1 + hit5 + mrr10) / 3
  }
  const names = [...few.keys()]
  const best = tune(rankWeights, names, judge)
  process.stdout.write(`\nBest over all sets: ${JSON.stringify(best)}\n`)
  for (const name of names) {
    // The same passages in another language do not count as another set.
    const others = names.filter((other) => other.split('-')[0] !== name.split('-')[0])
    const without = tune(rankWeights, others, judge)
    const [own, all, today] = [without, best, rankWeights].map((weights) => measured(name, weights).keyword)
    if (own && all && today) write(name, { today, 'tuned with it': all, 'tuned without it': own })
  }
}

function spread(own: readonly Sample[]): Sample[] {
  const every = Math.ceil(own.length / tunedQuestionsMax)
  return own.filter((_, at) => at % every === 0)
}

function plain(set: QuestionSet): Quality {
  const { found } = searchByPlainBm25(set)
  const hitsOf = (at: number) => (found[at] ?? []).map((itemId) => ({ itemId }))
  return qualityOf(set.questions.map((question, at) => rankOf(answersOf(question), hitsOf(at))))
}

function write(set: string, qualities: Record<string, Quality>): void {
  const figures = Object.entries(qualities).map(
    ([name, { hit1, hit5 }]) => `${name} ${hit1.toFixed(3)}/${hit5.toFixed(3)}`,
  )
  process.stdout.write(`${set.padEnd(14)} ${figures.join('  ')}\n`)
}
