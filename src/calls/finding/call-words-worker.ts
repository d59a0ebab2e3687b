import { lowerPriority } from '../../threads/priority.ts'
import { serve } from '../../threads/serve.ts'
import { CallWords } from './call-words.ts'

/** 0 is normal, 19 the lowest. Nobody waits for the words of a single call. */
const niceness = 5

lowerPriority(niceness)
const words = new CallWords()

/** Splits stored calls into words, for word-backlog.ts. */
const api = {
  wordsOf(documents: readonly string[]): string[] {
    return documents.map((document) => words.of(JSON.parse(document)))
  },
}

export type CallWordsApi = typeof api

serve(api)
