import { expect } from 'bun:test'
import { rmSync } from 'node:fs'
import type { Chance } from '../../../scripts/torture/chance.ts'
import type { Call, CallChange, CallDetails } from '../../../src/calls/schemas.ts'
import type { KnownCall } from '../../calls/rules.ts'
import { freshFolder } from '../../support/at-end.ts'
import { type Receiver, receiverEnv, startReceiver } from '../../support/receiver.ts'
import { startService, type TestProject, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

export interface Item {
  id: string
  name: string
  text: string
}

/** A service, and what it must hold according to its own answers. */
export class World {
  readonly chance: Chance
  readonly dataDir = freshFolder()
  readonly calls = new Map<string, KnownCall>()
  readonly deleted = new Set<string>()
  /** Calls whose `createdAt` a request has named. */
  readonly dated = new Set<string>()
  /** Calls of which a request has said whether the caller was engaged. */
  readonly engaged = new Set<string>()
  /** Calls of which an event may have come late. */
  readonly timed = new Set<string>()
  isRedacting = false
  /** What each hold covers, by its id. */
  readonly holds = new Map<string, { callId?: string; number?: string }>()
  readonly items = new Map<string, Item>()
  readonly deletedItems = new Set<string>()
  /** How many entries each action has in the audit trail. */
  readonly actions = new Map<string, number>()
  /** Questions that were asked, each in a call or in none. */
  questions: { callId: string | null }[] = []
  /** What was done, for the message of a failure. */
  readonly log: string[] = []
  /** What a reader of changes holds, by `ref`. */
  readonly mirror = new Map<string, unknown>()
  next = 0
  #service: TestService | undefined
  #project: TestProject | undefined
  #receiver: Receiver | undefined

  constructor(chance: Chance) {
    this.chance = chance
  }

  get service(): TestService {
    if (!this.#service) throw new Error('The service is not started')
    return this.#service
  }

  get services() {
    return this.service.services
  }

  get project(): TestProject {
    if (!this.#project) throw new Error('The service is not started')
    return this.#project
  }

  get received() {
    return this.#receiver?.received ?? []
  }

  async open(): Promise<void> {
    this.#receiver = await startReceiver()
    await this.#start()
    this.#project = await this.service.mintProject()
    await this.services.webhooks.create(this.project.projectId, { url: this.#receiver.url })
    await this.services.settings.change(this.project.projectId, { keepQuestionsDays: 30 })
    this.act('settings_changed')
  }

  async restart(): Promise<void> {
    await this.service.stop()
    await this.#start()
  }

  async close(): Promise<void> {
    await this.service.stop()
    await this.#receiver?.close()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const env = { ...receiverEnv, ERASE_WITHIN_MS: '1000', INDEX_WAIT_MS: '3000' }
    this.#service = await startService({ env, dataDir: this.dataDir })
  }

  act(action: string, times = 1): void {
    this.actions.set(action, (this.actions.get(action) ?? 0) + times)
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const key = path.startsWith('/ingest') ? this.project.ingestKey : this.project.key
    const headers = { 'content-type': 'application/json', ...init.headers, authorization: `Bearer ${key}` }
    return await fetch(this.service.url + path, { ...init, headers })
  }

  async send(method: string, path: string, body?: unknown, headers = {}): Promise<Response> {
    const text = body === undefined ? null : JSON.stringify(body)
    return await this.fetch(path, { method, body: text, headers })
  }

  async get<Answer>(path: string): Promise<Answer> {
    const answer = await this.fetch(path)
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as Answer
  }

  /** The service's current answer for a call. */
  async read(id: string): Promise<KnownCall> {
    const path = `/v1/calls/${encodeURIComponent(id)}`
    return { call: await this.get<Call>(path), details: await this.get<CallDetails>(`${path}/details`) }
  }

  /** Learns the new state of calls that have just changed. */
  async learn(ids: Iterable<string>): Promise<void> {
    for (const id of new Set(ids)) {
      if (this.deleted.has(id)) expect((await this.fetch(`/v1/calls/${id}`)).status).toBe(404)
      else this.calls.set(id, await this.read(id))
    }
  }

  /** Whether anybody has said that the caller was engaged or not, or the transcript tells. */
  isEngagementKnown({ call: { id, status, transcript } }: KnownCall): boolean {
    return this.engaged.has(id) || (status === 'completed' && transcript.length > 0)
  }

  /** Notes what no answer tells of a change that was accepted. */
  note(id: string, { createdAt, occurredAt, isEngaged }: CallChange): void {
    if (isEngaged !== undefined) this.engaged.add(id)
    if (createdAt !== undefined) this.dated.add(id)
    if (occurredAt !== undefined) this.timed.add(id)
  }

  gone(ids: Iterable<string>): void {
    for (const id of ids) {
      this.calls.delete(id)
      this.deleted.add(id)
    }
    this.questions = this.questions.filter(({ callId }) => callId === null || !this.deleted.has(callId))
  }

  anyCall(): string | undefined {
    return this.chance.oneOf([...this.calls.keys()])
  }

  /** Waits until nothing is left to do in the background. */
  async settle(): Promise<void> {
    const { wordBacklog, erasureRequests, projectErasure, questions } = this.services
    await wordBacklog.finish()
    await erasureRequests.finish()
    await projectErasure.finish()
    await questions.flush()
    const open = `select 1 from chunks where embedding_space is null
      union all select 1 from erasures where done_at is null`
    await until(async () => (await this.sql(open)).length === 0, 'What is left to do')
  }

  async sql<Row = Record<string, unknown>>(statement: string): Promise<Row[]> {
    const { sql } = await import('drizzle-orm')
    return await this.services.database.read.all<Row>(sql.raw(statement))
  }

  /** Reads further changes and applies them to the mirror. */
  async follow(limit: number): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const page = await this.get<ChangesPage>(`/v1/changes?after=${this.next}&limit=${limit}`)
      expect(page.next).toBeGreaterThanOrEqual(this.next)
      for (const { ref, seq, call, item } of page.data) {
        expect(seq).toBeGreaterThan(this.next)
        const document = call ?? item
        if (document) this.mirror.set(ref, document)
        else this.mirror.delete(ref)
        this.next = seq
      }
      ;({ hasMore, next: this.next } = page)
    }
  }
}

export interface ChangesPage {
  data: { seq: number; type: string; ref: string; call?: unknown; item?: unknown }[]
  next: number
  hasMore: boolean
}
