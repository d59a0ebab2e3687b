import { serve } from '../../threads/serve.ts'
import { readWordQuery } from '../finding/word-query.ts'
import { findMatch, type TextMatch, type WeighedText } from './text-match.ts'

const api = {
  /** For each call, as JSON: where the words of the first text stand that it has any of. */
  findAll(texts: readonly WeighedText[], documents: readonly string[]): (TextMatch | null)[] {
    const queries = texts.flatMap(({ text, weights }) => {
      const words = readWordQuery(text)
      return words ? [{ words, weights }] : []
    })
    return documents.map((document) => {
      const call = JSON.parse(document)
      for (const { words, weights } of queries) {
        const match = findMatch(words, call, weights)
        if (match) return match
      }
      return null
    })
  },
}

export type TextMatchApi = typeof api

serve(api)
