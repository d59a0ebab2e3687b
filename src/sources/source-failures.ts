import { and, desc, eq, gt, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Core } from '../core/core.ts'
import { erasing } from '../db/erasing.ts'
import type { ProjectSettings } from '../db/project-settings.ts'
import { erasures, sourceFailures, sources } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { redactStrings } from '../redaction/redact-strings.ts'
import { interimRedactor, isRedacting, keptNumber, type RedactText } from '../redaction/settings.ts'
import { TimeSlices } from '../threads/time-slices.ts'
import type { Fault } from './event.ts'
import { keptOf, platforms } from './platforms.ts'
import { failuresKeptMs, type Sources, type WebhookSource } from './sources.ts'

const failuresPerSourceMax = 200
const eventCharsMax = 262_144
const idCharsMax = 128
const textCharsMax = 300

/** A failure as people see it: an event that could not be read. */
export type FailureRecord = Awaited<ReturnType<SourceFailures['list']>>[number]

interface SourceFailuresParts {
  sources: Sources
  erasure: Pick<Erasure, 'schedule'>
}

/**
 * Keeps genuine events that cannot be read, for a week. Of each it keeps the fields that its platform's mapping reads,
 * with the id of the call, so that they are erased with it.
 */
export class SourceFailures {
  readonly #parts: Core & SourceFailuresParts
  readonly #slices = new TimeSlices()

  constructor(core: Core, parts: SourceFailuresParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Adds a failure, unless its call was deleted. @param body null if it is not JSON */
  async add(source: WebhookSource, fault: Fault, body: unknown): Promise<void> {
    const { write, now, recordHash, settingsOf, erasure } = this.#parts
    const { id, projectId } = source
    const { callId, event } = await this.#keptFrom(source, body, await settingsOf(projectId))
    const hash = callId === null ? '' : recordHash(projectId, 'call', callId)
    const [field, message] = [cut(fault.field), cut(fault.message)]
    const tooOld = sql`
      select seq from ${sourceFailures} where source_id = ${id}
      order by seq desc limit 1 offset ${failuresPerSourceMax}`
    const { deleted } = await write.batch({
      noted: sql`
        insert into ${sourceFailures} (project_id, source_id, at, call_id, field, message, event)
        select ${projectId}, ${id}, ${now()}, ${callId}, ${field}, ${message}, ${event}
        where exists (select 1 from ${sources} where id = ${id}) and not exists (
          select 1 from ${erasures} where project_id = ${projectId} and kind = 'call' and id_hash = ${hash})`,
      ledger: this.#erasing(projectId, id, sql`exists (${tooOld})`),
      deleted: write
        .delete(sourceFailures)
        .where(sql`source_id = ${id} and seq <= (${tooOld})`)
        .returning({ seq: sourceFailures.seq }),
    })
    if (deleted.length > 0) erasure.schedule(projectId)
  }

  /** Returns the failures, newest first. @throws not_found */
  async list(projectId: number, sourceId: string) {
    await this.#parts.sources.get(projectId, sourceId)
    const rows = await this.#parts.read
      .select({
        at: sourceFailures.at,
        callId: sourceFailures.callId,
        field: sourceFailures.field,
        message: sourceFailures.message,
        isKept: sql<number>`${sourceFailures.event} is not null`,
      })
      .from(sourceFailures)
      .where(this.#areOf(sourceId))
      .orderBy(desc(sourceFailures.seq))
    return rows.map((row) => ({
      ...row,
      at: new Date(row.at).toISOString(),
      /** Whether enough of the event is kept to read it again. */
      isKept: row.isKept === 1,
    }))
  }

  /** The next event that can be read again. One at a time, since each may be large. */
  async next(sourceId: string, afterSeq: number) {
    const [row] = await this.#parts.read
      .select({ seq: sourceFailures.seq, event: sql<string>`${sourceFailures.event}` })
      .from(sourceFailures)
      .where(and(this.#areOf(sourceId), isNotNull(sourceFailures.event), gt(sourceFailures.seq, afterSeq)))
      .orderBy(sourceFailures.seq)
      .limit(1)
    return row
  }

  /** Deletes a failure whose event has been read. */
  async resolve({ id, projectId }: WebhookSource, seq: number): Promise<void> {
    const { write, erasure } = this.#parts
    await write.batch({
      ledger: this.#erasing(projectId, id),
      deleted: write.delete(sourceFailures).where(eq(sourceFailures.seq, seq)),
    })
    erasure.schedule(projectId)
  }

  /** Deletes failures older than a week. */
  async expire(): Promise<void> {
    const { read, write, now, erasure } = this.#parts
    const isOver = sql`${sourceFailures.at} <= ${now() - failuresKeptMs}`
    const over = await read
      .selectDistinct({ id: sourceFailures.sourceId, projectId: sourceFailures.projectId })
      .from(sourceFailures)
      .where(isOver)
    for (const { id, projectId } of over) {
      await write.batch({
        ledger: this.#erasing(projectId, id),
        deleted: write.delete(sourceFailures).where(and(eq(sourceFailures.sourceId, id), isOver)),
      })
      erasure.schedule(projectId)
    }
  }

  /** Keeps nothing of an event without a call's id: it could not be erased with the call. */
  async #keptFrom(
    { platform, options }: WebhookSource,
    body: unknown,
    settings: ProjectSettings,
  ): Promise<{ callId: string | null; event: string | null }> {
    const fields = keptOf(platforms[platform], body, options)
    if (fields.callId === null || fields.callId.length > idCharsMax || fields.callId.includes('\0'))
      return { callId: null, event: null }
    const storedFields = isRedacting(settings)
      ? await this.#slices.run(redactEvent(fields, settings, await interimRedactor(settings)))
      : fields.event
    const event = JSON.stringify(storedFields)
    return { callId: fields.callId.toWellFormed(), event: event.length <= eventCharsMax ? event : null }
  }

  #erasing(projectId: number, id: string, condition?: SQL): SQL {
    return erasing(this.#parts, { projectId, kind: 'source', id }, condition)
  }

  #areOf(sourceId: string) {
    return and(
      eq(sourceFailures.sourceId, sourceId),
      gt(sourceFailures.at, this.#parts.now() - failuresKeptMs),
    )
  }
}

/** The event redacted by the project's settings. The call's id stays, so that the event can be read again. */
function redactEvent(
  { callId, numbers, event }: ReturnType<typeof keptOf>,
  settings: ProjectSettings,
  redact: RedactText,
) {
  return redactStrings(event, function* (text, label) {
    if (text.trim() === callId) return text
    const isNumber = numbers.includes(text.trim())
    return isNumber ? (keptNumber(text, settings) ?? '') : yield* redact(text, label, {})
  })
}

function cut(text: string): string {
  return text.slice(0, textCharsMax).toWellFormed().replaceAll('\0', '\uFFFD')
}
