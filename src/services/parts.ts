import { join } from 'node:path'
import { AlertMessages } from '../alerts/alert-message.ts'
import { AlertWatch } from '../alerts/alert-watch.ts'
import { Alerts } from '../alerts/alerts.ts'
import { Destinations } from '../alerts/destinations.ts'
import { Agreements } from '../analysis/agreement.ts'
import { Analyses } from '../analysis/analyses.ts'
import { AnalysisQueue } from '../analysis/analysis-queue.ts'
import { AnalysisRuns } from '../analysis/analysis-runs.ts'
import { Analyzer } from '../analysis/analyzer.ts'
import { Budget } from '../analysis/budget.ts'
import { CallJudge } from '../analysis/call-judge.ts'
import { Outcomes } from '../analysis/outcomes.ts'
import { Rubrics } from '../analysis/rubrics.ts'
import { AuditTrail } from '../audit/audit-trail.ts'
import { ReadingNotes } from '../audit/reading.ts'
import { compileIpRules } from '../auth/ip-rules.ts'
import { KeyChanges } from '../auth/key-changes.ts'
import { Keys } from '../auth/keys.ts'
import { Calls } from '../calls/calls.ts'
import { Figures } from '../calls/figures/figures.ts'
import { Passes } from '../calls/figures/passes.ts'
import { WindowFigures } from '../calls/figures/window-figures.ts'
import { WordBacklog } from '../calls/finding/word-backlog.ts'
import { CallDeletion } from '../calls/keeping/call-deletion.ts'
import { CallSelections } from '../calls/keeping/call-selection.ts'
import { CallerAddress } from '../calls/keeping/caller-address.ts'
import { Callers } from '../calls/keeping/callers.ts'
import { Holds } from '../calls/keeping/holds.ts'
import { Retention } from '../calls/keeping/retention.ts'
import { Silence } from '../calls/keeping/silence.ts'
import { Overview } from '../calls/reading/overview.ts'
import { openTextMatcher } from '../calls/reading/text-matcher.ts'
import { CallSets } from '../calls/review/call-sets.ts'
import { Reviews } from '../calls/review/reviews.ts'
import { SetTasks } from '../calls/review/set-tasks.ts'
import { Ingest } from '../calls/writing/ingest.ts'
import { RequestIngest } from '../calls/writing/request-ingest.ts'
import { ChangeWatch } from '../changes/change-watch.ts'
import { Changes } from '../changes/changes.ts'
import type { Config } from '../config.ts'
import { readLastBackup } from '../db/backup-note.ts'
import { ChangeTags } from '../db/change-tags.ts'
import { Lease, noLease } from '../db/lease.ts'
import { readSecrets } from '../db/meta.ts'
import { createSettingsReader } from '../db/project-settings.ts'
import { createRecordHash } from '../db/record-hash.ts'
import { ProjectStores } from '../db/store.ts'
import { Erasure } from '../erasure/erasure.ts'
import { ErasureRequests } from '../erasure/erasure-requests.ts'
import { ProjectErasure } from '../erasure/project-erasure.ts'
import { ErasureReceipts } from '../erasure/receipts.ts'
import { Sweeper } from '../erasure/sweeper.ts'
import { TextThreads } from '../knowledge/chunking/text-threads.ts'
import { EarlyEmbedder } from '../knowledge/embedding/early-embedder.ts'
import { FileReader } from '../knowledge/files/file-reader.ts'
import { IdempotentCreates } from '../knowledge/idempotent-creates.ts'
import { IndexedItems } from '../knowledge/indexed-items.ts'
import { Follower } from '../knowledge/indexing/follower.ts'
import { openVectorIndex } from '../knowledge/indexing/index/vector-index.ts'
import { countPending, Indexer } from '../knowledge/indexing/indexer.ts'
import { ItemChanges } from '../knowledge/item-changes.ts'
import { Knowledge } from '../knowledge/knowledge.ts'
import { LookUps } from '../knowledge/protocols/look-ups.ts'
import { GoldenQuestions } from '../knowledge/questions/golden-questions.ts'
import { GoldenRuns } from '../knowledge/questions/golden-runs.ts'
import { QuestionChecks } from '../knowledge/questions/question-checks.ts'
import { QuestionGroups } from '../knowledge/questions/question-groups.ts'
import { QuestionMarks } from '../knowledge/questions/question-marks.ts'
import { Questions } from '../knowledge/questions/questions.ts'
import { questionsOfCall } from '../knowledge/questions/questions-of-call.ts'
import { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import { Search } from '../knowledge/search/search.ts'
import type { Log } from '../observability/log.ts'
import { Metrics } from '../observability/metrics.ts'
import { Projects } from '../projects/projects.ts'
import { Settings } from '../projects/settings.ts'
import { AudioThreads } from '../recordings/audio/audio-threads.ts'
import { BucketFiles } from '../recordings/bucket-files.ts'
import { RecordingExpiry } from '../recordings/expiry.ts'
import { FetchQueue } from '../recordings/fetching/fetch-queue.ts'
import { RecordingFetcher } from '../recordings/fetching/recording-fetcher.ts'
import type { RecordingFiles } from '../recordings/files.ts'
import { FolderFiles } from '../recordings/folder-files.ts'
import { PeaksBacklog } from '../recordings/peaks-backlog.ts'
import { Recordings } from '../recordings/recordings.ts'
import { RemovedFiles } from '../recordings/removed-files.ts'
import { EventCounts } from '../sources/event-counts.ts'
import { LiveKitReceiver } from '../sources/otel/livekit-receiver.ts'
import { CallSessions } from '../sources/otel/sessions.ts'
import { SourceEvents } from '../sources/source-events.ts'
import { SourceFailures } from '../sources/source-failures.ts'
import { SourceRecordings } from '../sources/source-recordings.ts'
import { Sources } from '../sources/sources.ts'
import { Background } from '../threads/background.ts'
import { Addresses } from '../webhooks/addresses.ts'
import { Deliveries } from '../webhooks/deliveries.ts'
import { Messages } from '../webhooks/message.ts'
import { WebhookQueue } from '../webhooks/queue.ts'
import { WebhookSender } from '../webhooks/sender.ts'
import { Webhooks } from '../webhooks/webhooks.ts'
import { readBacklog } from './backlog.ts'
import { createChatModel } from './chat-model.ts'
import { openConfigured, refuseMissing } from './database.ts'
import { createEmbedder } from './embedder.ts'
import { openFolder, refuseReadOnly, sizesOf } from './folder.ts'

const ownerWaitMsDefault = 2_000
const expireEveryMs = 3_600_000
const expireRetryMs = 60_000
const pagerDutyUrlDefault = 'https://events.pagerduty.com/v2/enqueue'

export interface ServicesOptions {
  config: Config
  log: Log
  /** A command shares the folder with a running service, which owns it. */
  role: 'service' | 'command'
  /** Whether to own the folder if no other process does. By default a service does and a command does not. */
  takesFolder?: boolean
  /** Whether to make a database where there is none. By default a service does and a command does not. */
  createsDatabase?: boolean
  /** How long to wait for a folder that another process owns. After that, the service takes it once it is free. */
  ownerWaitMs?: number
  /** Called when damage to the database is found after the start: the process should end. */
  onDamage?: (error: Error) => void
  /** Milliseconds since 1970. */
  now?: () => number
  /** Where alerts for PagerDuty go, by default to PagerDuty. */
  pagerDutyUrl?: string
}

export type Common = Awaited<ReturnType<typeof openCommon>>
type Indexing = Awaited<ReturnType<typeof openIndexing>>
type Erasers = ReturnType<typeof createErasers>
type OfCalls = ReturnType<typeof createCalls>
type OfKnowledge = ReturnType<typeof createKnowledge>
type OfWebhooks = ReturnType<typeof createWebhooks>
type OfAlerts = ReturnType<typeof createAlerts>
export type Parts = ReturnType<typeof createParts>

/** What nearly every part needs: the configuration, the log, the clock and the database. */
export async function openCommon({
  config,
  log,
  role,
  takesFolder,
  createsDatabase = role === 'service',
  ownerWaitMs = ownerWaitMsDefault,
  onDamage = () => undefined,
  now = Date.now,
  pagerDutyUrl = pagerDutyUrlDefault,
}: ServicesOptions & { takesFolder: boolean }) {
  if (role === 'service') refuseReadOnly(config.dataDir, config.databaseFile)
  if (!createsDatabase) refuseMissing(config)
  const owner = await openFolder(config.dataDir, { takesFolder, ownerWaitMs })
  const database = await openConfigured({ config, log, role, createsDatabase, owner, onDamage, now })
  const { read, write, writeWhenFull, dataVersion } = database
  const stores = new ProjectStores(database.store)
  const { idHashKey, sessionSecret, generation } = await readSecrets(read, write)
  const recordHash = createRecordHash(idHashKey)
  return {
    config,
    log,
    now,
    owner,
    database,
    read,
    write,
    writeWhenFull,
    dataVersion,
    stores,
    store: stores.of,
    sessionSecret,
    generation,
    pagerDutyUrl,
    /** Where people reach the console: known once the service listens. */
    site: { address: config.publicUrl ?? `http://${config.host}:${config.port}` },
    /** Signs what outsiders bring back, and encrypts the addresses of recordings to fetch. */
    linkSecret: idHashKey,
    recordHash,
    audit: new AuditTrail({ read, store: stores.of, write, recordHash, now, log }),
    settingsOf: createSettingsReader({ read, dataVersion }),
    /** Several processes on a remote database may do the same work, one at a time by its lease. */
    leaseOf: (name: string) => (database.isLocal ? noLease : new Lease(database, name)),
  }
}

/** The models, and the vector index. */
export async function openIndexing({ config, log, database, owner }: Common, role: ServicesOptions['role']) {
  const metrics = new Metrics()
  const textThreads = new TextThreads()
  const embedder = await createEmbedder({ config, metrics, database, textThreads, log, role })
  const index = openVectorIndex({
    readsAt: database.readsAt,
    folder: join(config.dataDir, 'indexes'),
    space: embedder.space,
    savesFiles: owner.isOwner,
    // A command does not search, so warnings about the index are of no interest.
    log: (level, message, fields) =>
      log[role === 'command' && level === 'warn' ? 'debug' : level](fields, message),
  })
  return { metrics, textThreads, embedder, index, chat: await createChatModel(config.analysis) }
}

export function createParts(common: Common, indexing: Indexing, role: ServicesOptions['role']) {
  const { config, owner, database, read, writeWhenFull, stores, store, audit, recordHash, settingsOf } =
    common
  const { dataVersion, generation, now, log } = common
  const { metrics, index } = indexing
  const erasers = createErasers(common, indexing)
  const ofCalls = createCalls(common, erasers, role)
  const ofKnowledge = createKnowledge(common, { ...indexing, ...erasers, ...ofCalls }, role)
  const ofWebhooks = createWebhooks(common, { ...erasers, ...ofCalls, ...ofKnowledge })
  const ofAlerts = createAlerts(common, { ...erasers, ...ofCalls, ...ofWebhooks })
  const ofSources = createSources(common, {
    ...erasers,
    ...ofCalls,
    ...ofKnowledge,
    ...ofWebhooks,
    ...ofAlerts,
  })
  const ofAnalysis = createAnalysis(common, { ...indexing, ...ofCalls, ...ofWebhooks })
  const erasureRequests = createErasureRequests(common, {
    ...erasers,
    ...ofCalls,
    ...ofWebhooks,
    ...ofAlerts,
  })
  const { changeWatch } = ofWebhooks
  const { erasure, projectErasure } = erasers
  const { indexer, knowledge } = ofKnowledge
  const bytesKept = () => ofCalls.recordings.bytesKept()
  metrics.watch({
    countPending: () => countPending(read),
    index,
    database,
    databaseBytes: () => sizesOf(database.file),
    lastBackupAt: async () => Date.parse((await readLastBackup(config.dataDir))?.at ?? '') || 0,
    backlog: () => readBacklog(database.readInBackground, { lateBefore: now() - config.eraseWithinMs }),
    changeWatch,
    bytesKept,
  })
  return {
    ...indexing,
    ...erasers,
    ...ofCalls,
    ...ofKnowledge,
    ...ofWebhooks,
    ...ofAlerts,
    ...ofSources,
    ...ofAnalysis,
    erasureRequests,
    follower: new Follower({
      config,
      owner,
      database,
      stores,
      indexer,
      index,
      erasure,
      projectErasure,
      erasureRequests,
      questionChecks: ofKnowledge.questionChecks,
      log,
    }),
    projects: new Projects({
      read,
      write: common.write,
      writeWhenFull,
      audit,
      recordHash,
      projectErasure,
      now,
    }),
    settings: new Settings({ read, write: common.write, audit }),
    reading: new ReadingNotes({ settingsOf, recordHash, audit, now, log }),
    // A key can be revoked on a full disk, too.
    keys: new Keys({ read, dataVersion, write: writeWhenFull, audit, now, log }),
    keyChanges: new KeyChanges({ read, write: writeWhenFull, audit, now }),
    changeTags: new ChangeTags({ store, recordHash, generation }),
    changes: new Changes({
      store,
      dataVersion,
      recordHash,
      watch: changeWatch,
      calls: ofCalls.calls,
      knowledge,
    }),
    erasureReceipts: new ErasureReceipts({ store, recordHash }),
  }
}

/** Nodes that share a database share no folder. */
function openRecordingFiles({ config, database }: Common): RecordingFiles | null {
  const folder = join(config.dataDir, 'recordings')
  if (config.bucket) return new BucketFiles({ ...config.bucket, folder })
  return database.isLocal ? new FolderFiles(folder) : null
}

function createErasers(common: Common, { index }: Indexing) {
  const { config, owner, database, read, writeWhenFull, stores, now, log } = common
  const recordingFiles = openRecordingFiles(common)
  const removedFiles = new RemovedFiles({ read, write: writeWhenFull, files: recordingFiles })
  const { eraseWithinMs } = config
  const erasure = new Erasure({ owner, database, index, removedFiles, eraseWithinMs, now, log })
  return {
    recordingFiles,
    removedFiles,
    erasure,
    projectErasure: new ProjectErasure({ owner, database, stores, erasure, index, removedFiles, now, log }),
    sweeper: new Sweeper({ owner, database, log }),
  }
}

function createCalls(common: Common, { erasure, recordingFiles }: Erasers, role: ServicesOptions['role']) {
  const { config, owner, database, read, write, store, audit, recordHash, settingsOf, leaseOf, now, log } =
    common
  const holds = new Holds({ store, audit, recordHash, settingsOf, erasure, now })
  const passes = new Passes({ store, readsAt: database.readsAt })
  const figures = new Figures({ store, settingsOf, passes })
  const deletion = new CallDeletion({ store, recordHash, now })
  const textMatcher = openTextMatcher()
  const wordBacklog = new WordBacklog({ owner, database, read, write, log, now })
  // What a command imports is history: people ask for its analysis.
  const analysisDelayMs = role === 'service' ? (config.analysis?.delayMs ?? null) : null
  const ingest = new Ingest({
    config,
    analysisDelayMs,
    store,
    recordHash,
    audit,
    settingsOf,
    wordBacklog,
    now,
  })
  const audioThreads = new AudioThreads()
  const peaksBacklog = new PeaksBacklog({
    owner,
    read,
    write,
    files: recordingFiles,
    audio: audioThreads,
    lease: leaseOf('peaks'),
    log,
  })
  const recordings = new Recordings({
    read,
    store,
    recordHash,
    settingsOf,
    files: recordingFiles,
    ingest,
    holds,
    probe: ({ draft, ...arrived }) => audioThreads.probe({ ...arrived, path: draft.path }),
    onKept: () => peaksBacklog.schedule(),
    erasure,
    config,
    secret: common.linkSecret,
    now,
    log,
  })
  const fetchQueue = new FetchQueue({
    read,
    write,
    store,
    settingsOf,
    ingest,
    recordings,
    canKeep: recordingFiles !== null,
    secret: common.linkSecret,
    now,
  })
  const selections = new CallSelections({ store, settingsOf })
  const address = new CallerAddress(common.linkSecret)
  const callers = new Callers({ store, selections, holds, address })
  const calls = new Calls({
    store,
    recordHash,
    audit,
    erasure,
    holds,
    deletion,
    callers,
    matcher: textMatcher,
    figures,
  })
  const reviews = new Reviews({ ingest, now })
  return {
    holds,
    callers,
    audioThreads,
    deletion,
    textMatcher,
    wordBacklog,
    ingest,
    calls,
    recordings,
    fetchQueue,
    requestIngest: new RequestIngest({ ingest, recordings: fetchQueue }),
    peaksBacklog,
    selections,
    reviews,
    callSets: new CallSets({ store, read, write, holds, now }),
    setTasks: new SetTasks({
      owner,
      database,
      store,
      read,
      write,
      reviews,
      calls,
      lease: leaseOf('call sets'),
      now,
      log,
    }),
    recordingExpiry: new RecordingExpiry({
      owner,
      read,
      store,
      recordings,
      audit,
      lease: leaseOf('recordings'),
      now,
      log,
    }),
    figures,
    windowFigures: new WindowFigures({ store, figures }),
    passes,
    overview: new Overview({ store, figures }),
    silence: new Silence({ read, store, ingest, audit, lease: leaseOf('silence'), now, log }),
    retention: new Retention({
      owner,
      read,
      store,
      holds,
      deletion,
      audit,
      erasure,
      lease: leaseOf('retention'),
      now,
      log,
    }),
  }
}

function createKnowledge(
  common: Common,
  { metrics, textThreads, embedder, index, erasure, holds }: Indexing & Erasers & OfCalls,
  role: ServicesOptions['role'],
) {
  const { config, owner, read, write, writeWhenFull, stores, store, audit, recordHash, settingsOf } = common
  const { leaseOf, now, log } = common
  const indexer = new Indexer({ read, stores, embedder, index: role === 'service' ? index : null, now, log })
  const search = new Search({ store, embedder, index, log })
  const questions = new Questions({
    read,
    write,
    writeWhenFull,
    recordHash,
    settingsOf,
    audit,
    holds,
    erasure,
    log,
    now,
  })
  const knowledge = new Knowledge({
    config,
    store,
    recordHash,
    audit,
    textThreads,
    indexer,
    index,
    erasure,
    now,
    log,
  })
  const earlyEmbedder = new EarlyEmbedder({ embedder, log })
  const questionGroups = new QuestionGroups({ store, settingsOf, now })
  const golden = new GoldenQuestions({ store, recordHash, settingsOf, erasure, questions, now })
  const goldenRuns = new GoldenRuns({ store, search, golden, now })
  return {
    indexer,
    search,
    questions,
    // The console's playground and `knowledge check` use `search`, because no agent asks those questions.
    recordedSearch: new RecordedSearch({ search, questions, metrics }),
    knowledge,
    earlyEmbedder,
    itemChanges: new ItemChanges({
      config,
      store,
      recordHash,
      audit,
      knowledge,
      textThreads,
      indexer,
      earlyEmbedder,
      erasure,
      now,
    }),
    indexedItems: new IndexedItems({ store, knowledge, now }),
    idempotentCreates: new IdempotentCreates({ store, recordHash, knowledge, now }),
    questionGroups,
    questionMarks: new QuestionMarks({ store, now }),
    questionsOfCall: (projectId: number, callId: string) =>
      questionsOfCall({ store, settingsOf, now }, projectId, callId),
    golden,
    goldenRuns,
    questionChecks: new QuestionChecks({
      owner,
      read,
      store,
      search,
      settingsOf,
      groups: questionGroups,
      goldenRuns,
      lease: leaseOf('questions'),
      now,
      log,
    }),
    files: new FileReader(),
  }
}

/** What tells others of changes and of erasures. */
function createWebhooks(common: Common, { erasure, calls, knowledge }: Erasers & OfCalls & OfKnowledge) {
  const { config, database, read, write, audit, recordHash, leaseOf, now, log } = common
  const allowPrivate = config.webhookAllowPrivate
  const addresses = new Addresses({ listed: allowPrivate.length > 0 ? compileIpRules(allowPrivate) : null })
  const queue = new WebhookQueue({ read, write })
  const webhooks = new Webhooks({ read, write, audit, queue, addresses, recordHash, erasure, now, log })
  const messages = new Messages({ queue, recordHash, calls, knowledge, generation: common.generation })
  return {
    changeWatch: new ChangeWatch({ database, log }),
    addresses,
    webhooks,
    deliveries: new Deliveries({ read, write, webhooks, messages, addresses, now }),
    webhookSender: new WebhookSender({
      database,
      queue,
      messages,
      addresses,
      webhooks,
      lease: leaseOf('webhooks'),
      now,
      log,
    }),
  }
}

/** Rules that tell somebody when a figure of recent calls crosses a limit. */
function createAlerts(
  common: Common,
  { erasure, windowFigures: figures, addresses }: Erasers & OfCalls & OfWebhooks,
) {
  const { read, write, store, audit, recordHash, site, pagerDutyUrl, leaseOf, now, log } = common
  const messages = new AlertMessages({ figures, site })
  const destinations = new Destinations({ read, addresses, recordHash, pagerDutyUrl, now })
  return {
    alerts: new Alerts({ read, store, write, figures, destinations, messages, audit, erasure, now }),
    alertWatch: new AlertWatch({ read, write, figures, messages, lease: leaseOf('alerts'), now, log }),
  }
}

function createErasureRequests(
  common: Common,
  { erasure, selections, holds, deletion, webhooks, alerts }: Erasers & OfCalls & OfWebhooks & OfAlerts,
) {
  const { owner, database, store, audit, leaseOf, now, log } = common
  return new ErasureRequests({
    owner,
    database,
    store,
    selections,
    holds,
    deletion,
    erasure,
    webhooks,
    alerts,
    lease: leaseOf('erasures'),
    audit,
    now,
    log,
  })
}

/** What asks a model about calls. Without a model, it only reads. */
function createAnalysis(common: Common, { chat, calls, ingest, webhooks }: Indexing & OfCalls & OfWebhooks) {
  const { database, read, write, store, audit, recordHash, settingsOf, leaseOf, now, log } = common
  const rubrics = new Rubrics({ store, audit, now })
  const budget = new Budget({ read, write, audit, recordHash, model: chat, now })
  const queue = new AnalysisQueue({ read, write, now })
  const judge = new CallJudge({
    rubrics,
    calls,
    settingsOf,
    askModel: chat?.ask ?? null,
    charsMax: chat?.charsMax ?? 0,
  })
  const analyzer = chat
    ? new Analyzer({
        database,
        queue,
        budget,
        judge,
        outcomes: new Outcomes({ write, queue, budget, ingest, webhooks, model: chat, now }),
        requestsAtOnce: chat.requestsAtOnce,
        lease: leaseOf('analyses'),
        now,
        log,
      })
    : null
  return {
    rubrics,
    analyzer,
    analyses: new Analyses({
      store,
      rubrics,
      budget,
      judge,
      model: chat,
      calls,
      isRunning: (seq) => analyzer?.isRunning(seq) ?? false,
      now,
    }),
    analysisRuns: new AnalysisRuns({ store, rubrics, calls, audit, now }),
    agreements: new Agreements({ store, rubrics }),
  }
}

function createSources(common: Common, parts: Erasers & OfCalls & OfKnowledge & OfWebhooks & OfAlerts) {
  const { config, database, read, write, writeWhenFull, store, audit, recordHash, settingsOf, leaseOf } =
    common
  const { now, log } = common
  const { erasure, ingest, recordings, fetchQueue, recordedSearch, addresses, webhooks, questions, alerts } =
    parts
  const { callSets } = parts
  // A source can be deleted on a full disk, too.
  const sources = new Sources({ read, write: writeWhenFull, audit, recordHash, erasure, now })
  const sourceFailures = new SourceFailures({ read, write, recordHash, settingsOf, sources, erasure, now })
  const eventCounts = new EventCounts({ write, log })
  const callSessions = new CallSessions({
    config,
    read,
    write,
    store,
    recordHash,
    settingsOf,
    erasure,
    ingest,
    now,
    log,
  })
  return {
    sources,
    sourceFailures,
    eventCounts,
    callSessions,
    livekitReceiver: new LiveKitReceiver({
      sources,
      callSessions,
      counts: eventCounts,
      keepsRecording: async (projectId, callId) =>
        (await settingsOf(projectId)).recordings === 'keep' &&
        !(await recordings.isUnwanted(projectId, callId)),
      keepRecording: (projectId, callId, chunks) => recordings.keep(projectId, callId, chunks),
      now,
    }),
    sourceEvents: new SourceEvents({
      sources,
      failures: sourceFailures,
      counts: eventCounts,
      ingest,
      recordings: fetchQueue,
      lookUps: new LookUps({ search: recordedSearch, log }),
      now,
    }),
    recordingFetcher: new RecordingFetcher({
      database,
      queue: fetchQueue,
      recordings,
      settingsOf,
      platforms: new SourceRecordings(sources),
      guard: addresses,
      lease: leaseOf('fetches'),
      config,
      now,
      log,
    }),
    /** Deletes previous secrets of sources and webhooks a day after their rotation, failures after a week, questions, old changes of alerts, and sets of calls. */
    expiry: new Background({
      work: async () => {
        await sources.expireSecrets()
        await sourceFailures.expire()
        await webhooks.expireSecrets()
        await webhooks.expireAnswers()
        await questions.expire()
        await alerts.expire()
        await callSets.expire()
      },
      everyMs: expireEveryMs,
      retryMs: expireRetryMs,
      onFailure: (error) =>
        log.error({ error }, 'Deleting expired source data failed and will be tried again'),
    }),
  }
}
