import { serve } from '../../threads/serve.ts'
import { readWordQuery } from '../finding/word-query.ts'
import type { Call } from '../schemas.ts'
import { type TalkTimeline, talkTimelineOf } from './talk-timeline.ts'
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
  /** Who speaks when in calls that are too long to be read on the main thread. */
  talkTimelines(calls: readonly LongCall[], columns: number): (TalkTimeline | null)[] {
    return calls.map(({ document, timeline }) => {
      const { transcript, duration }: Call = JSON.parse(document)
      if (transcript.length === 0) return null
      return talkTimelineOf(transcript, JSON.parse(timeline ?? '[]'), duration, columns)
    })
  },
}

/** A call's document, and the timeline of its details, as JSON. */
export interface LongCall {
  document: string
  timeline: string | null
}

export type TextMatchApi = typeof api

serve(api)
