// Where queries cache their answers, one object a folder of views. A key with fewer parts names all that begin so.

type Part = string | number | boolean | object | null | undefined

const within =
  (folder: string, ...what: string[]) =>
  (project: string, ...parts: Part[]): Part[] => [folder, project, ...what, ...parts]

/** A list is named by its filters: `nameOf(filters)`. */
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
  ofNumber: within('calls', 'of number'),
  /** A person, and what belongs to them. */
  caller: within('calls', 'caller'),
  facets: within('calls', 'facets'),
  /** Of the command palette, like `found` of knowledge. */
  found: within('calls', 'found'),
  live: within('calls', 'live'),
  /** The newest call there is, or of a source. */
  newest: within('calls', 'newest'),
  views: within('views'),
  /** Queues of reviews, and who may review. */
  queues: within('calls', 'queues'),
  reviewers: within('calls', 'reviewers'),
  /** The calls of a queue that the person has judged, in order. */
  judged: within('calls', 'judged'),
  /** How many calls a deletion of all that match would take. */
  toDelete: within('calls', 'to delete'),
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

export const knowledgeKeys = {
  all: within('knowledge'),
  items: within('knowledge', 'items'),
  /** An item, and what belongs to it. */
  item: within('knowledge', 'item'),
  chunks: (project: string, id: string) => [...knowledgeKeys.item(project, id), 'chunks'],
  preview: within('knowledge', 'preview'),
  found: within('knowledge', 'found'),
  textHits: within('knowledge', 'items', 'text-hits'),
  /** Of the playground. */
  answers: within('knowledge', 'ask'),
}

export const questionKeys = {
  all: within('questions'),
  counts: within('questions', 'counts'),
  asked: within('questions', 'asked'),
  one: within('questions', 'one'),
  golden: within('questions', 'golden'),
  people: within('questions', 'people'),
  ofCall: within('questions', 'of call'),
  timesFound: within('questions', 'times found'),
}

export const settingsKeys = {
  /** All that belongs to the project. */
  all: within('project'),
  sources: within('project', 'sources'),
  /** A source, and what belongs to it. */
  source: within('project', 'source'),
  failures: (project: string, id: string) => [...settingsKeys.source(project, id), 'failures'],
  erasure: within('project', 'erasure'),
  erasures: within('project', 'erasures'),
  /** How long calls are kept and what is redacted, and what that removes. */
  privacy: within('project', 'settings'),
  due: within('project', 'settings', 'due'),
  expired: within('project', 'settings', 'expired'),
  recordings: within('project', 'settings', 'recordings'),
}

/** Of the person who is signed in, whatever the project. */
export const personKeys = {
  session: ['session'],
  sessionEnded: ['session-ended'],
  sessions: ['sessions'],
  twoFactor: ['two-factor'],
  /** Of the whole service, for the console's owner. */
  service: ['service'],
  twoFactorRule: ['two-factor-rule'],
}
