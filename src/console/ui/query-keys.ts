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

export const alertKeys = {
  all: within('alerts'),
  list: within('alerts', 'list'),
  destinations: within('alerts', 'destinations'),
  callsPerDay: within('alerts', 'calls per day'),
  preview: within('alerts', 'preview'),
  /** Of all alerts, or of one. */
  changes: within('alerts', 'changes'),
}

export const metricsKeys = {
  /** A chart, named as a list is. */
  chart: within('metrics', 'chart'),
  trend: within('metrics', 'trend'),
  groups: within('metrics', 'groups'),
  criteria: within('metrics', 'criteria'),
}

export const overviewKeys = {
  all: within('overview'),
  figures: within('overview', 'figures'),
  days: within('overview', 'days'),
  durations: within('overview', 'durations'),
  endReasons: within('overview', 'end-reasons'),
  origins: within('overview', 'origins'),
  failed: within('overview', 'failed'),
  knowledge: within('overview', 'knowledge'),
}
