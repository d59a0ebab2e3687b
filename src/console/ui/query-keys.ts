// Where queries cache their answers, one object a folder of views. A key with fewer parts names all that begin so.

type Part = string | number | boolean | object | null | undefined

const within =
  (folder: string, ...what: string[]) =>
  (project: string, ...parts: Part[]): Part[] => [folder, project, ...what, ...parts]

/** A list is named by its filters: `filterKey(filters)`. */
export const callKeys = {
  /** The loaded pages of a list. */
  list: within('calls', 'list'),
  /** The newest page of a list. */
  first: within('calls', 'first'),
  /** The newest page when the list was requested. */
  seen: within('calls', 'seen'),
  /** Some calls of a list, when they may have changed. */
  rows: within('calls', 'rows'),
  one: within('calls', 'one'),
  details: within('calls', 'details'),
  analysis: within('calls', 'analysis'),
  peaks: within('calls', 'peaks'),
  sound: within('calls', 'sound'),
  unsavedNote: within('calls', 'unsaved-note'),
  neighbours: within('calls', 'neighbours'),
  /** Of the command palette. */
  found: within('calls', 'found'),
  live: within('calls', 'live'),
  /** The newest call there is. */
  newest: within('calls', 'newest'),
  views: within('views'),
  /** Queues of reviews. */
  queues: within('calls', 'queues'),
  /** The calls of a queue that the person has judged, in order. */
  judged: within('calls', 'judged'),
}

export const analysisKeys = {
  status: within('analysis', 'status'),
  /** A version of the rubric; the one in force without a number. */
  rubric: within('analysis', 'rubric'),
  draft: within('analysis', 'draft'),
  plan: within('analysis', 'plan'),
  runs: within('analysis', 'runs'),
  agreement: within('analysis', 'agreement'),
  next: within('analysis', 'next'),
}

export const metricsKeys = {
  /** From which latency on an answer is slow. */
  slow: within('metrics', 'slow'),
}

/** Figures, charts and the overview, which changes of calls change. */
export const overviewKeys = {
  all: within('overview'),
  /** Named by what it shows. */
  chart: within('overview', 'chart'),
  /** A chart's figure of a whole period. */
  figure: within('overview', 'figure'),
  groups: within('overview', 'groups'),
  criteria: within('overview', 'criteria'),
  oldest: within('overview', 'oldest'),
  failed: within('overview', 'failed'),
  knowledge: within('overview', 'knowledge'),
}
