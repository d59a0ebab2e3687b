import { type SQL, sql } from 'drizzle-orm'
import { countOf } from '../../audit/audit-trail.ts'
import type { Holds } from '../../calls/keeping/holds.ts'
import type { Core } from '../../core/core.ts'
import { erasing } from '../../db/erasing.ts'
import { calls, erasures, knowledgeItems, projects, questions } from '../../db/schema.ts'
import type { Erasure } from '../../erasure/erasure.ts'
import { ProjectWasDeleted } from '../../errors.ts'
import { type RedactText, redactor } from '../../redaction/settings.ts'
import type { SearchScope } from '../../tags.ts'
import type { TagFilter } from '../../text/tags.ts'
import { Background } from '../../threads/background.ts'
import { TimeSlices, type Work } from '../../threads/time-slices.ts'
import type { SearchAnswer } from '../schemas.ts'
import { pairsOf, storedHits } from './hits.ts'
import { wordingOf } from './wording.ts'

const delayMs = 1_000
const retryMs = 5_000
export const dayMs = 86_400_000
/** Questions in memory that wait to be written. Further ones are lost. */
const waitingMax = 5_000
const readsPerQuestionMax = 20
const questionsPerProjectMax = 100_000
const rowsPerDeletionMax = 2_000
/** Few, so that other writes wait only briefly. */
const rowsPerWriteMax = 250

interface Question {
  projectId: number
  at: number
  callId: string | null
  query: string
  /** Those of the key, the source and the address; never a model's. */
  tags: TagFilter
  coverage: number | null
  /** The passages found, best first. */
  hits: [itemId: string, position: number][]
}

/** An item that an agent read whole. */
interface Read {
  projectId: number
  callId: string
  itemId: string
}

interface QuestionsParts {
  /** Tells which of the selected calls are on hold: see calls/keeping/holds.ts. */
  holds: Pick<Holds, 'among'>
  erasure: Pick<Erasure, 'schedule'>
}

/**
 * Keeps agents' questions, for projects that want it. Questions are written once a second, after they were answered: a
 * process that is killed loses those of its last second.
 */
export class Questions {
  readonly #parts: Core & QuestionsParts
  readonly #background: Background
  readonly #slices = new TimeSlices()
  /** How many questions of each project have expired, and since when: the audit trail gets one entry a day. */
  readonly #expired = new Map<number, { count: number; since: number }>()
  #waiting: Question[] = []
  #reads: Read[] = []
  #lost = 0

  constructor(core: Core, parts: QuestionsParts) {
    this.#parts = { ...core, ...parts }
    this.#background = new Background({
      work: () => this.#write(),
      delayMs,
      retryMs,
      onFailure: (error) => core.log.warn({ error }, 'Questions were not written and will be tried again'),
    })
  }

  /** Keeps a question if its project's settings say so. @param callId the platform's id of the call */
  add({ projectId, tags }: SearchScope, query: string, answer: SearchAnswer, callId: string | null): void {
    if (this.#waiting.length >= waitingMax) {
      this.#lost++
      return
    }
    const at = this.#parts.now()
    const { coverage } = answer
    this.#waiting.push({ projectId, at, callId, query, tags, coverage, hits: pairsOf(answer) })
    this.#background.soon()
  }

  /** Keeps with the last question of a call, if there is one, that the agent has read an item. */
  addRead(read: Read): void {
    if (this.#reads.length >= waitingMax) return
    this.#reads.push(read)
    this.#background.soon()
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    return this.#background.now()
  }

  async close(): Promise<void> {
    // The failure is logged, and the questions are lost with the process.
    await this.flush().catch(() => undefined)
    await this.#background.close()
  }

  /** Deletes expired questions, and all but the newest 100,000 of each project. */
  async expire(): Promise<void> {
    const { read, now } = this.#parts
    const rows = await read.all<{ id: number; keepDays: number | null }>(sql`
      select id, keep_questions_days as keepDays from ${projects}
      where deleted_at is null and id in (select project_id from ${questions})`)
    for (const { id, keepDays } of rows) {
      const [beyond] = await read.all<{ at: number }>(sql`
        select at from ${questions} where project_id = ${id}
        order by at desc limit 1 offset ${questionsPerProjectMax}`)
      const over = keepDays === null ? now() + 1 : now() - keepDays * dayMs
      await this.#expireBefore(id, Math.max(over, (beyond?.at ?? 0) + 1))
    }
  }

  async #expireBefore(projectId: number, before: number): Promise<void> {
    const { audit, now } = this.#parts
    const last = this.#expired.get(projectId)
    const { count, since } = last && Math.abs(now() - last.since) < dayMs ? last : { count: 0, since: now() }
    const progressOf = (deleted: number) => {
      const target = countOf('question', count + deleted)
      return audit.progress({ projectId, action: 'questions_expired', target }, count + deleted === 0)
    }
    const deleted = await this.deleteQuestionsBefore(projectId, before, progressOf)
    this.#expired.set(projectId, { count: count + deleted, since })
  }

  /**
   * Deletes the questions asked before this time, in slices, except those of calls on hold. Their bytes are erased like
   * those of a deleted call.
   * @param after makes the statement that follows each slice, from the number that earlier slices have deleted
   * @returns how many were deleted
   */
  async deleteQuestionsBefore(
    projectId: number,
    before: number,
    after?: (deleted: number) => SQL,
  ): Promise<number> {
    const { read, writeWhenFull, erasure, holds } = this.#parts
    const areOld = sql`project_id = ${projectId} and at < ${before}`
    const selection = sql`select seq from ${calls} where project_id = ${projectId}
      and id in (select call_id from ${questions} where ${areOld})`
    const onHold = await holds.among(read, projectId, selection)
    const heldIds = sql`select id from ${calls} where seq in (
      select value from json_each(${JSON.stringify([...onHold.seqs])}))`
    const over = sql`select seq from ${questions} where ${areOld}
      and (call_id is null or call_id not in (${heldIds})) limit ${rowsPerDeletionMax}`
    const record = { projectId, kind: 'questions', id: '' } as const
    for (let count = 0; ; ) {
      const { deleted } = await writeWhenFull.batchIf([onHold.isAsSeen], {
        ledger: erasing(this.#parts, record, sql`exists (${over})`),
        deleted: writeWhenFull
          .delete(questions)
          .where(sql`seq in (${over})`)
          .returning({ seq: questions.seq }),
        after: after ? [after(count)] : [],
      })
      count += deleted.length
      if (deleted.length > 0) erasure.schedule(projectId)
      if (deleted.length < rowsPerDeletionMax) return count
    }
  }

  async #write(): Promise<void> {
    const { log } = this.#parts
    if (this.#lost > 0)
      log.warn({ questions: this.#lost }, 'Too many questions were waiting, so some were not kept')
    this.#lost = 0
    for (let rowsLeft = this.#waiting.length; rowsLeft > 0; rowsLeft -= rowsPerWriteMax)
      await this.#writeSome(this.#waiting.splice(0, rowsPerWriteMax))
    while (this.#reads.length > 0) await this.#writeReads(this.#reads.splice(0, rowsPerWriteMax))
  }

  /** Reads of a call without a question are kept nowhere, nor are more than twenty for one question. */
  async #writeReads(reads: readonly Read[]): Promise<void> {
    await this.#parts.write.batch({
      reads: reads.map(
        ({ projectId, callId, itemId }) => sql`
          update ${questions} set reads = json_insert(reads, '$[#]', items.seq)
          from ${knowledgeItems} as items
          where items.project_id = ${projectId} and items.id = ${itemId} and ${questions}.seq = (
            select max(seq) from ${questions} where project_id = ${projectId} and call_id = ${callId})
          and json_array_length(reads) < ${readsPerQuestionMax}`,
      ),
    })
  }

  /** Writes questions, but none of a project that keeps no questions, and none of a deleted call. */
  async #writeSome(batch: readonly Question[]): Promise<void> {
    const { write, recordHash } = this.#parts
    try {
      const recorded = await this.#toRecord(batch)
      if (recorded.length === 0) return
      const rows = recorded.map(({ projectId, at, callId, query, tags, coverage, hits }) => {
        const hash = callId === null ? '' : recordHash(projectId, 'call', callId)
        return [
          projectId,
          at,
          callId,
          wordingOf(recordHash, projectId, { query, tags }),
          query,
          coverage,
          hits,
          hash,
          tags,
        ]
      })
      await write.run(sql`
        insert into ${questions} (project_id, at, call_id, wording, query, coverage, hits, tags)
        select asked.value ->> 0, asked.value ->> 1, asked.value ->> 2, asked.value ->> 3, asked.value ->> 4,
          asked.value ->> 5, ${storedHits(sql`asked.value ->> 0`, sql`asked.value -> 6`)}, asked.value -> 8
        from json_each(${JSON.stringify(rows)}) as asked
        where exists (
          select 1 from ${projects}
          where id = asked.value ->> 0 and deleted_at is null and keep_questions_days is not null)
        and not exists (
          select 1 from ${erasures}
          where project_id = asked.value ->> 0 and kind = 'call' and id_hash = asked.value ->> 7)`)
    } catch (error) {
      this.#waiting = [...batch, ...this.#waiting].slice(-waitingMax)
      throw error
    }
  }

  /** The questions of projects that keep them, redacted by the project's settings. */
  async #toRecord(batch: readonly Question[]): Promise<Question[]> {
    const redactors = new Map<number, RedactText>()
    for (const projectId of new Set(batch.map((question) => question.projectId))) {
      // A project that was deleted meanwhile keeps nothing.
      const settings = await this.#parts.settingsOf(projectId).catch(nullIfDeleted)
      if (settings?.keepQuestionsDays) redactors.set(projectId, await redactor(settings))
    }
    return await this.#slices.run(redactQuestions(batch, redactors))
  }
}

function* redactQuestions(
  batch: readonly Question[],
  redactors: ReadonlyMap<number, RedactText>,
): Work<Question[]> {
  const recorded: Question[] = []
  for (const question of batch) {
    yield
    const redact = redactors.get(question.projectId)
    if (redact) recorded.push({ ...question, query: yield* redact(question.query, '', {}) })
  }
  return recorded
}

function nullIfDeleted(error: unknown): null {
  if (error instanceof ProjectWasDeleted) return null
  throw error
}
