import { openAccess } from '../access/open-access.ts'
import { openAlerts } from '../alerts/open-alerts.ts'
import { openAnalysis } from '../analysis/open-analysis.ts'
import { ReadingNotes } from '../audit/reading.ts'
import { readPrices } from '../calls/costs/prices.ts'
import { openCalls } from '../calls/open-calls.ts'
import { RequestIngest } from '../calls/writing/request-ingest.ts'
import { openCases } from '../cases/open-cases.ts'
import { ChangeWatch } from '../changes/change-watch.ts'
import { Changes } from '../changes/changes.ts'
import { openConsole } from '../console/open-console.ts'
import { sizesOf } from '../core/folder.ts'
import { type CoreOptions, openCore } from '../core/open-core.ts'
import { readLastBackup } from '../db/backup-note.ts'
import { ChangeTags } from '../db/change-tags.ts'
import { openDemo } from '../demo/open-demo.ts'
import { openErasure } from '../erasure/open-erasure.ts'
import { TextThreads } from '../knowledge/chunking/text-threads.ts'
import { Follower } from '../knowledge/indexing/follower.ts'
import { countPending } from '../knowledge/indexing/indexer.ts'
import { openIndex, openKnowledge } from '../knowledge/open-knowledge.ts'
import { openPrivacy } from '../privacy/open-privacy.ts'
import { Projects } from '../projects/projects.ts'
import { Settings } from '../projects/settings.ts'
import {
  openFetching,
  openPlatformClient,
  openRecordingFiles,
  openRecordings,
} from '../recordings/open-recordings.ts'
import { openSources } from '../sources/open-sources.ts'
import { openWebhooks } from '../webhooks/open-webhooks.ts'
import { readBacklog } from './backlog.ts'
import { createChatModel } from './chat-model.ts'
import { createEmbedder } from './embedder.ts'
import { Life } from './life.ts'
import { readPricesFile } from './prices-file.ts'

export interface ServicesOptions extends CoreOptions {
  /** Where alerts for PagerDuty go, by default to PagerDuty. */
  pagerDutyUrl?: string
}

export type Services = Awaited<ReturnType<typeof openServices>>

/** The whole service on one page, the ground floor first. What is closed at the end is closed from the top. */
export async function openServices({ pagerDutyUrl, ...options }: ServicesOptions) {
  // A bad list stops the start before anything is opened.
  const prices = readPricesFile(options.config.pricesFile)
  const core = await openCore(options)
  const { config, database, read, metrics, now } = core
  const textThreads = new TextThreads()
  core.onClose(() => textThreads.close())
  const embedder = await createEmbedder({ ...core, log: options.log, textThreads })
  core.onClose(() => embedder.close?.())
  const chat = await createChatModel(config.analysis)
  const index = openIndex(core, embedder)
  const { files, removedFiles } = openRecordingFiles(core)
  const erasing = openErasure(core, { index, removedFiles })
  const { erasure, projectErasure } = erasing
  const ofCalls = openCalls(core, { erasure, prices })
  const { calls, ingest, holds } = ofCalls
  const ofRecordings = openRecordings(core, { files, ingest, holds, erasure })
  const { recordings, fetchQueue } = ofRecordings
  const ofKnowledge = openKnowledge(core, { embedder, textThreads, index, erasure, holds })
  const { knowledge, indexer, questionChecks, recordedSearch } = ofKnowledge
  const ofWebhooks = openWebhooks(core, { erasure, calls, knowledge })
  const { addresses, webhooks } = ofWebhooks
  const ofAlerts = openAlerts(core, { figures: ofCalls.windowFigures, addresses, erasure, pagerDutyUrl })
  const { alerts } = ofAlerts
  const ofAnalysis = openAnalysis(core, { ...ofKnowledge, model: chat, calls, ingest, webhooks })
  const ofCases = openCases(core, { calls, rubrics: ofAnalysis.rubrics, erasure })
  const platformClient = openPlatformClient(core, addresses)
  const ofSources = openSources(core, { ...ofRecordings, erasure, ingest, platformClient, recordedSearch })
  const { platforms } = ofSources
  openFetching(core, { queue: fetchQueue, recordings, platforms, guard: addresses })
  const ofPrivacy = openPrivacy(core, { ...ofCalls, erasure, webhooks, alerts })
  const { erasureRequests } = ofPrivacy
  const beside = { indexer, index, erasure, projectErasure, erasureRequests, questionChecks }
  const follower = new Follower(core, beside)
  // What other machines have deleted is no open erasure of this one.
  if (!database.isLocal) core.onOwn(() => follower.followAll())
  const changeWatch = new ChangeWatch(core)
  core.onClose(() => changeWatch.close())
  const { people, ...access } = openAccess(core)
  /** What an operator should know while reads and deletions work, in a sentence; null when nothing is wrong. */
  const problem = async () => database.problem() ?? (await ofAnalysis.budget.problem())
  metrics.watch({
    countPending: () => countPending(read),
    index,
    database,
    databaseBytes: () => sizesOf(database.file),
    lastBackupAt: async () => Date.parse((await readLastBackup(config.dataDir))?.at ?? '') || 0,
    backlog: () => readBacklog(database.readInBackground, { lateBefore: now() - config.eraseWithinMs }),
    changeWatch,
    jobs: () => core.jobs.totals(),
    bytesKept: () => recordings.bytesKept(),
    problem: async () => database.refusesWritesBecause() ?? (await problem()),
  })
  const projects = new Projects(core, { projectErasure })
  const settings = new Settings(core, { readPrices })
  const ofDemo = openDemo(core, {
    ...ofCalls,
    ...ofRecordings,
    ...ofKnowledge,
    ...ofAlerts,
    ...ofAnalysis,
    people: people.people,
    projects,
    settings,
  })
  const life = new Life(core, { erasure, follower, indexer })
  return {
    ...core,
    ...erasing,
    ...ofCalls,
    ...ofRecordings,
    ...ofKnowledge,
    ...ofWebhooks,
    ...ofAlerts,
    ...ofAnalysis,
    ...ofCases,
    ...ofSources,
    ...ofPrivacy,
    ...access,
    core,
    recordingFiles: files,
    chat,
    embedder,
    textThreads,
    index,
    removedFiles,
    follower,
    changeWatch,
    problem,
    requestIngest: new RequestIngest({ ingest, recordings: fetchQueue }),
    projects,
    settings,
    ...ofDemo,
    reading: new ReadingNotes(core),
    changeTags: new ChangeTags(core),
    changes: new Changes(core, { watch: changeWatch, calls, knowledge }),
    console: { audit: core.audit, ...people, ...openConsole(core, { ...access, embedder, chat, problem }) },
    start: () => life.start(),
    notReadyBecause: () => life.notReadyBecause(),
    staleBecause: () => life.staleBecause(),
    close: () => core.close(),
    /** Whether this process is the one that saves index files and erases deletions in this folder. */
    get ownsFolder() {
      return core.owner.isOwner
    },
    /** Tells commands where this process listens. */
    listensAt: (address: string) => {
      core.site.address = address
      core.owner.listensAt(address)
    },
  }
}
