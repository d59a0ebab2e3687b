import { sql } from 'drizzle-orm'
import type { Alerts } from '../alerts/alerts.ts'
import type { Rubrics } from '../analysis/rubrics.ts'
import type { Ingest } from '../calls/writing/ingest.ts'
import type { Core } from '../core/core.ts'
import { deleteMeta, readMeta, setMeta } from '../db/meta.ts'
import type { Requirement } from '../db/requirements.ts'
import { alertChanges, alerts } from '../db/schema.ts'
import type { ActedBy } from '../identity.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { Questions } from '../knowledge/questions/questions.ts'
import type { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import type { Project, Projects } from '../projects/projects.ts'
import type { Settings } from '../projects/settings.ts'
import type { Recordings } from '../recordings/recordings.ts'
import { type MadeCall, madeCalls } from './made-calls.ts'
import practice from './practice.json' with { type: 'json' }
import { soundOf } from './sound.ts'
import { analysisOf, reviewOf } from './verdicts.ts'

const projectName = 'demo'
/** In `meta`: the id of the project. Behind it stands a mark while it is being filled. */
const metaName = 'demo'
const unfinished = ' unfinished'
const days = 30
const soundsMax = 20
/** The newest calls, of which the first half is reviewed. */
const queued = 60
const hourMs = 3_600_000

export interface DemoParts {
  projects: Pick<Projects, 'create' | 'get' | 'list' | 'delete'>
  people: { consoleOwner(): Promise<string | null> }
  settings: Pick<Settings, 'change'>
  ingest: Pick<Ingest, 'putAll'>
  recordings: Pick<Recordings, 'upload'>
  rubrics: Pick<Rubrics, 'put'>
  knowledge: Pick<Knowledge, 'add'>
  questions: Pick<Questions, 'flush'>
  recordedSearch: Pick<RecordedSearch, 'search'>
  alerts: Pick<Alerts, 'create'>
}

interface FillOptions {
  /** A person's id; by default whoever owns the console, if anybody does. */
  ownerId?: string | null
  by?: ActedBy | undefined
  /** Further conditions for creating the project. */
  requirements?: readonly Requirement[]
}

/** A project that shows what Callbook does: the calls of a dental practice in the last 30 days. */
export class Demo {
  readonly #parts: Core & DemoParts

  constructor(core: Core, parts: DemoParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Makes it unless it is there. One that was left half full is made anew. @throws as `Projects.create` */
  async make({
    ownerId,
    by,
    requirements = [],
  }: FillOptions = {}): Promise<{ project: Project; isNew: boolean }> {
    const { projects, people, write } = this.#parts
    const found = await this.#find()
    if (found?.isWhole) return { project: found.project, isNew: false }
    if (found) await projects.delete(found.project.projectId, by ? { by } : {})
    const owner = ownerId ?? (await people.consoleOwner())
    const project = await projects.create(projectName, { ownerId: owner, by, requirements })
    await setMeta(write, metaName, project.id + unfinished)
    await this.fill(project.projectId)
    await setMeta(write, metaName, project.id)
    return { project, isNew: true }
  }

  /** Deletes it with everything in it. @returns whether it was there */
  async remove(by?: ActedBy): Promise<boolean> {
    const { projects, write } = this.#parts
    const found = await this.#find()
    if (found) await projects.delete(found.project.projectId, by ? { by } : {})
    await deleteMeta(write, metaName)
    return found !== null
  }

  /**
   * Fills a project.
   * @param options.callsMax how many of the newest calls
   * @param options.to where the alert goes that has fired; by default it is only shown
   * @returns the id of an item, and of this alert
   */
  async fill(
    projectId: number,
    { callsMax = Number.POSITIVE_INFINITY, to = [] as object[] } = {},
  ): Promise<{ calls: MadeCall[]; itemId: string; alertId: string }> {
    const { ingest, recordings, rubrics, now } = this.#parts
    const calls = madeCalls(now(), days).slice(-callsMax)
    // Before there is a rubric, so that no model is asked.
    const inputs = calls.map((made, n) => {
      const analysis = analysisOf(made)
      const age = calls.length - n
      const isReviewed = analysis !== null && age > queued / 2 && age <= queued
      const own = {
        source: made.source,
        ...(analysis && { analysis }),
        ...(isReviewed && { review: reviewOf(made, n) }),
      }
      return { id: made.id, change: made.call, own, isImport: true }
    })
    for (const result of await ingest.putAll(projectId, inputs)) if (result instanceof Error) throw result
    await rubrics.put(projectId, practice.rubric)
    for (const { id, call } of this.#heard(calls))
      await recordings.upload(projectId, id, oneOf(soundOf(call)))
    const itemId = await this.#addKnowledge(projectId, calls)
    return { calls, itemId, alertId: await this.#addAlert(projectId, to) }
  }

  /** Those whose sound is kept: the newest ones in which both speak. */
  #heard(calls: readonly MadeCall[]): MadeCall[] {
    const isTalk = ({ call: { transcript = [], status } }: MadeCall) =>
      status === 'completed' && transcript.length > 2
    return calls.filter(isTalk).slice(-soundsMax)
  }

  /** Items, and what callers asked: some of it no item answers. @returns the first item's id */
  async #addKnowledge(projectId: number, calls: readonly MadeCall[]): Promise<string> {
    const { knowledge, questions, recordedSearch, settings } = this.#parts
    await settings.change(projectId, { keepQuestionsDays: days })
    const ids: string[] = []
    for (const item of practice.items) ids.push((await knowledge.add(projectId, item)).item.id)
    for (const [n, query] of practice.questions.entries())
      await recordedSearch.search({ projectId, tags: [] }, { query }, calls.at(-4 - n)?.id)
    await questions.flush()
    return ids[0] ?? ''
  }

  /** An alert that has fired twice and fires now, since the front desk's calls of a week succeed too seldom. */
  async #addAlert(projectId: number, to: readonly object[]): Promise<string> {
    const { alerts: rules, projects, write, site, now } = this.#parts
    const { id: project } = await projects.get(projectId)
    const filters = { agentId: 'agent_front_desk' }
    const { id, name } = await rules.create(projectId, {
      name: 'Bookings fail',
      filters,
      of: 'success',
      show: 'share',
      windowMinutes: 7 * 24 * 60,
      below: { alert: 0.9 },
      minCalls: 3,
      ...(to.length > 0 ? { to } : { showOnly: true }),
    })
    for (const { state, value, hoursAgo } of practice.alertChanges) {
      const at = now() - hoursAgo * hourMs
      const [from, until] = [at - 7 * 24 * hourMs, at].map((time) => new Date(time).toISOString())
      const query = new URLSearchParams({ ...filters, completedFrom: from ?? '', completedTo: until ?? '' })
      const url = `${site.address}/console/p/${project}/calls?${query}`
      const figure = { of: 'success', show: 'share', value, limit: 0.9, calls: 68 }
      const message = { id, name, state, ...figure, from, to: until, url }
      await write.run(sql`
        insert into ${alertChanges} (alert_seq, at, message)
        select seq, ${at}, ${JSON.stringify(message)} from ${alerts} where id = ${id}`)
      await write.run(sql`
        update ${alerts} set state = ${state}, since = ${at}, value = ${value}, calls = 68 where id = ${id}`)
    }
    return id
  }

  async #find(): Promise<{ project: Project; isWhole: boolean } | null> {
    const { projects, read } = this.#parts
    const id = (await readMeta(read, metaName)).get(metaName)
    const project = (await projects.list()).find((one) => one.id === id?.replace(unfinished, ''))
    return project ? { project, isWhole: project.id === id } : null
  }
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
