import { answerRequests } from '../work-thread.ts'
import { CallWords } from './call-words.ts'

/** Cuts the words of stored calls, on a thread of its own: see word-backlog.ts. */

const words = new CallWords()

answerRequests((documents: readonly string[]) => documents.map((document) => words.of(JSON.parse(document))))
