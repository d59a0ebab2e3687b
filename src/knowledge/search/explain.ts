import { foldText, stemOf, wordsOf } from '../../text/words.ts'
import { type SearchAnswer, type SearchHit, warningsOf } from '../schemas.ts'
import { readTerms } from './query.ts'

/**
 * The time of a search by part, in milliseconds. `vector` includes `embedding`; vector and keyword search run in
 * parallel.
 */
export interface TimeShares {
  keyword: number
  embedding: number
  vector: number
  fusion: number
  total: number
}

/** When each part began, in milliseconds from the start of the search. Embedding begins with the search. */
interface TimeStarts {
  keyword: number
  fusion: number
}

/** A search's answer, and how it was found. */
export interface SearchResult {
  answer: SearchAnswer
  shares: TimeShares
  starts: TimeStarts
  /** Labels of chunks, best first; null for a list that was not used. */
  keywordLabels: readonly number[] | null
  vectorLabels: readonly number[] | null
  /** The labels of each passage of the answer. */
  passageLabels: readonly (readonly number[])[]
  /** How much of the question each passage of the answer covers, 0 to 1: unlike a score, it compares between questions. */
  coverages: readonly number[]
}

export interface ExplainedHit extends SearchHit {
  /** Rank in each list, from 1; null when the hit is not in the list. */
  keywordRank: number | null
  vectorRank: number | null
  /** The query's words that a keyword hit has, in any form, in text, name or heading. */
  terms: string[]
  /** The same words in the forms that the passage has, to be marked. */
  forms: string[]
}

export interface ExplainedSearch extends SearchAnswer {
  data: ExplainedHit[]
  /** What a model is told before the passages. */
  told: string[]
  /** Here, `vector` does not include `embedding`. */
  shares: Omit<TimeShares, 'total'>
  starts: TimeStarts
}

/** The answer as the console shows it: with each passage's rank in both lists, and the time of each part. */
export function explain(result: SearchResult, query: string): ExplainedSearch {
  const { total: _, ...shares } = result.shares
  return {
    ...result.answer,
    told: warningsOf(result.answer),
    data: result.answer.data.map((hit, at) => ({
      ...hit,
      keywordRank: bestRank(result.keywordLabels, result.passageLabels[at]),
      vectorRank: bestRank(result.vectorLabels, result.passageLabels[at]),
      ...(hit.matched.keyword ? matchesIn(hit, query) : { terms: [], forms: [] }),
    })),
    shares: { ...shares, vector: shares.vector - shares.embedding },
    starts: result.starts,
  }
}

function matchesIn({ name, heading, text }: SearchHit, query: string): Pick<ExplainedHit, 'terms' | 'forms'> {
  const words = new Set(wordsOf(`${name} ${heading ?? ''} ${text}`).map((word) => word.text))
  const byStem = new Map<string, string[]>()
  for (const word of words) {
    const stem = stemOf(foldText(word))
    byStem.set(stem, [...(byStem.get(stem) ?? []), word])
  }
  const matches = readTerms(query).flatMap((term) => {
    const forms = byStem.get(term.stem) ?? (term.isPrefix && text.includes(term.text) ? [term.text] : [])
    return forms.length > 0 ? [{ term: term.text, forms }] : []
  })
  return { terms: matches.map(({ term }) => term), forms: matches.flatMap(({ forms }) => forms) }
}

/** The best rank among the chunks that became one passage. */
function bestRank(list: readonly number[] | null, labels: readonly number[] = []): number | null {
  const at = list?.findIndex((label) => labels.includes(label)) ?? -1
  return at < 0 ? null : at + 1
}
