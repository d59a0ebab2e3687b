import { KeywordSearch } from '../../src/knowledge/search/keyword.ts'
import {
  type Evidence,
  gatherEvidence,
  type RankWeights,
  rankWeights,
  weighEvidence,
} from '../../src/knowledge/search/rank-passages.ts'
import type { Services } from '../../src/services/services.ts'
import { cachedDataset, withServices } from '../dataset.ts'
import { formatQuality, type Quality, qualityOf, rankOf } from './retrieval/ranks.ts'
import { answersOf, type QuestionSet, readQuestionSets, storeSet } from './retrieval/sets.ts'
import { findRealData } from './runner.ts'

// Tries other weights of the evidence that orders passages, with the product's own code: finds those that are best over
// all question sets, and measures each set with weights that were found without it.

/** Questions of a set to tune with, evenly spread. */
const questionsMax = 500
const limit = 10
const passesMax = 4
/** A change that gains less is not made, so a weight stays where it is when it does not matter. */
const gainMin = 0.0003

/** The values to try of each weight. */
const weightValues: Partial<Record<keyof RankWeights, readonly number[]>> = {
  emphasis: [1, 1.25, 1.5, 1.75],
  saturation: [1.2, 1.5, 2, 3],
  length: [0.6, 0.75, 0.9],
  title: [0.5, 1, 1.5, 2, 3],
  cased: [0, 0.15, 0.3, 0.5],
  likeness: [0.5, 1, 1.5, 2],
  proximity: [0.5, 1, 1.5, 2],
  window: [0.5, 1, 1.5, 2],
  item: [0, 0.2, 0.35, 0.5],
}

/** A question with all that ranking has to order. */
interface Sample {
  evidence: Evidence
  /** The passages that answer it. */
  answers: string[]
}

const samples = new Map<string, Sample[]>()
/** The passage of each chunk, by set. */
const passageOf = new Map<string, ReadonlyMap<number, string>>()
for (const set of readQuestionSets(findRealData())) samples.set(set.name, await readSamples(set))

const names = [...samples.keys()]
const best = tune(names)
process.stdout.write(`Best over all sets: ${JSON.stringify(best)}\n`)
for (const name of names) {
  // The same passages in another language do not count as another set.
  const others = names.filter((other) => other.split('-')[0] !== name.split('-')[0])
  const tried = { today: rankWeights, 'tuned with it': best, 'tuned without it': tune(others) }
  for (const [how, weights] of Object.entries(tried)) {
    process.stdout.write(`${name.padEnd(14)} ${how.padEnd(18)} ${formatQuality(measure(name, weights))}\n`)
  }
}
process.exit(0)

/** Changes one weight at a time to the value that gains most over the sets, until no change gains. */
function tune(sets: readonly string[]): RankWeights {
  const judge = (weights: RankWeights) => {
    const each = sets.map((set) => measure(set, weights))
    return each.reduce((sum, { hit1, hit5, mrr10 }) => sum + (hit1 + hit5 + mrr10) / 3, 0) / sets.length
  }
  let chosen = { weights: rankWeights, quality: judge(rankWeights) }
  for (let pass = 0; pass < passesMax; pass++) {
    const before = chosen
    for (const [name, values = []] of Object.entries(weightValues)) {
      for (const value of values) {
        const weights = { ...chosen.weights, [name]: value }
        const quality = judge(weights)
        if (quality >= chosen.quality + gainMin) chosen = { weights, quality }
      }
    }
    if (chosen === before) break
  }
  return chosen.weights
}

/** How well weights order a set. */
function measure(set: string, weights: RankWeights): Quality {
  const ranks = (samples.get(set) ?? []).map(({ evidence, answers }) => {
    const found = weighEvidence(evidence, weights)
    return rankOf(
      answers,
      found.map(({ label }) => passageOf.get(set)?.get(label) ?? ''),
    )
  })
  return qualityOf(ranks)
}

async function readSamples(set: QuestionSet): Promise<Sample[]> {
  const dataset = await cachedDataset(`ranking-${set.name}`, (services, projectId) =>
    storeSet(services, projectId, set),
  )
  return await withServices(dataset.folder, (services) => lookUp(services, dataset.projectId, set))
}

async function lookUp(
  { database }: Services,
  projectId: number,
  { name, questions }: QuestionSet,
): Promise<Sample[]> {
  const keyword = new KeywordSearch({ store: () => database, now: () => 0 })
  const rows = await database.read.all<{ label: number; id: string }>(`
    select label, knowledge_items.id from chunks join knowledge_items on seq = item_seq
    where chunks.project_id = ${projectId}`)
  passageOf.set(name, new Map(rows.map(({ label, id }) => [label, id])))
  const every = Math.ceil(questions.length / questionsMax)
  const own: Sample[] = []
  for (const question of questions.filter((_, at) => at % every === 0)) {
    const { query } = question
    const options = { labels: undefined, inHurry: false, atLeast: limit * 3 + 5 }
    const { terms, passages, forms, counts } = await keyword.candidates(projectId, query, options)
    own.push({
      evidence: gatherEvidence(terms, passages, forms, counts),
      answers: answersOf(question),
    })
  }
  return own
}
