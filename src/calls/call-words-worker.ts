import { lowerPriority } from '../threads/priority.ts'
import { serve } from '../threads/serve.ts'
import { CallWords } from './call-words.ts'

/** 0 is normal, 19 the lowest: nobody waits for the words of one call. */
const niceness = 5

lowerPriority(niceness)
const words = new CallWords()

/** Cuts the words of stored calls for word-backlog.ts. */
const api = {
  wordsOf(documents: readonly string[]): string[] {
    return documents.map((document) => words.of(JSON.parse(document)))
  },
}

export type CallWordsApi = typeof api

serve(api)
