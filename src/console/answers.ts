// Read models of calls, for /console/api. Times are ISO 8601, UTC.

export interface CallRow {
  id: string
  createdAt: string
  updatedAt: string
  status: 'live' | 'completed'
  duration: number
  callerNumber: string | null
  calledNumber: string | null
  evaluation: string | null
  isEngaged: boolean
  endedReason: string | null
  /** At most 300 characters. */
  summary: string | null
  /** Where the text searched for is; null without one. */
  match: TextMatch | null
}

export interface TextMatch {
  /** Whose turn of the transcript it is in. */
  where: 'user' | 'assistant' | 'summary'
  /** About 160 characters around it. */
  text: string
  /** Start and end of each word found, as UTF-16 offsets into `text`. */
  ranges: [number, number][]
}

export interface CallRows {
  data: CallRow[]
  /** Null on the last page. */
  nextCursor: string | null
  /** How many calls the filters leave; null when more than `totalMax` do, which are not counted. */
  total: number | null
  totalMax: number
}

/** What filters can choose from, the most frequent first. */
export interface CallFacets {
  evaluations: { value: string; calls: number }[]
  endedReasons: { value: string; calls: number }[]
}

/** Figures of a period and of the one of the same length before it. */
export interface OverviewFigures {
  calls: Figure
  /** Share of evaluated calls that are a success, 0 to 1; null when none is evaluated. */
  successRate: Figure
  /** Seconds, of completed calls. */
  medianDuration: Figure
  /** Share of calls that are engaged, 0 to 1. */
  engagement: Figure
}

export interface Figure {
  value: number | null
  before: number | null
}

export interface CallsOfDay {
  /** `2026-01-31`, in UTC. */
  day: string
  success: number
  fail: number
  other: number
  unevaluated: number
}

export interface DurationBucket {
  /** Seconds, from (included) to (not included); null is without end. */
  from: number
  to: number | null
  calls: number
}

export interface EndReason {
  /** Null for calls that name none. */
  value: string | null
  calls: number
}

export interface EndReasons {
  /** The ten most frequent. */
  data: EndReason[]
  /** Calls of all the others. */
  others: number
}
