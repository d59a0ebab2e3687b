import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Rubrics } from '../analysis/rubrics.ts'
import type { Calls } from '../calls/calls.ts'
import type { Core } from '../core/core.ts'
import { erasing } from '../db/erasing.ts'
import { calls, cases } from '../db/schema.ts'
import type { Erasure } from '../erasure/erasure.ts'
import { AppError, callNotFound, forbidden, invalidRequest, notFound } from '../errors.ts'
import type { ActedBy } from '../identity.ts'
import { newId } from '../ids.ts'
import { redactor } from '../redaction/settings.ts'
import { TimeSlices } from '../threads/time-slices.ts'
import { compileCheck } from '../validation.ts'
import { cut } from './cut.ts'
import { formats } from './formats/formats.ts'
import { redactedCase } from './redacted-case.ts'
import { type Case, type CaseContent, CaseRequest, expectCharsMax, requestErrors } from './schemas.ts'

const casesMax = 1_000
const caseBytesMax = 262_144
/** Read at once, which is at most 2.5 MiB. */
const casesPerRead = 10

interface CasesParts {
  calls: Pick<Calls, 'conversation'>
  rubrics: Pick<Rubrics, 'find'>
  erasure: Pick<Erasure, 'schedule'>
}

/** Who makes a case. */
interface Maker {
  by: ActedBy
  name: string
}

const check = compileCheck(CaseRequest, requestErrors)

/** Tests that were made of calls: conversations cut before an answer, with what is expected of it. */
export class Cases {
  readonly #parts: Core & CasesParts
  readonly #slices = new TimeSlices()

  constructor(core: Core, parts: CasesParts) {
    this.#parts = { ...core, ...parts }
  }

  /**
   * Makes a case, unless there is one of the same call, turn and expectation. Without a maker, the command line does.
   * @throws invalid_request naming each bad field; not_found; call_is_live; payload_too_large; forbidden for too many
   */
  async create(projectId: number, request: unknown, maker?: Maker): Promise<{ case: Case; isNew: boolean }> {
    const { store, audit, now } = this.#parts
    const { call, turn, ...given } = readRequest(request)
    const made = await this.#contentOf(projectId, { call, turn, ...given })
    const same = await this.#find(projectId, { call, turn, expect: made.expect })
    if (same) return { case: same, isNew: false }
    const expectHash = createHash('sha256').update(made.expect).digest('hex')
    const id = newId('case')
    const createdAt = now()
    const createdBy = maker?.name ?? null
    refuseLarge(toCase({ id, call, turn, createdAt, createdBy }, made))
    const callSeq = sql`(select seq from ${calls} where project_id = ${projectId} and id = ${call})`
    const isSame = sql`call_seq = ${callSeq} and turn = ${turn} and expect_hash = ${expectHash}`
    const { write, read } = store(projectId)
    const ofProject = sql`select 1 from ${cases} where project_id = ${projectId}`
    const { added } = await write.batchIf(
      [
        { condition: sql`${callSeq} is not null`, otherwise: callNotFound },
        {
          condition: sql`(exists (${ofProject} and ${isSame}) or (select count(*) from (${ofProject})) < ${casesMax})`,
          otherwise: () => forbidden(`A project has at most ${casesMax} cases. Delete one first.`),
        },
      ],
      {
        added: write.all<{ id: string }>(sql`
          insert into ${cases} (id, project_id, call_seq, turn, content, expect_hash, created_at, created_by)
          select ${id}, ${projectId}, ${callSeq}, ${turn}, ${JSON.stringify({ ...made, name: given.name === undefined ? '' : made.name })}, ${expectHash}, ${createdAt}, ${createdBy}
          where true on conflict (call_seq, turn, expect_hash) do nothing returning id`),
        entry: audit.entry({ by: maker?.by, projectId, action: 'case_created', target: id, targetRef: id }),
      },
    )
    if (added.length > 0) return { case: await this.get(projectId, id), isNew: true }
    // Another request has made it meanwhile.
    const [other] = await read.all<{ id: string }>(sql`select id from ${cases} where ${isSame}`)
    return { case: await this.get(projectId, other?.id ?? ''), isNew: false }
  }

  /** The case of the same answer and expectation; redaction may have been changed since it was made. */
  async #find(
    projectId: number,
    { call, turn, expect }: Pick<Case, 'call' | 'turn' | 'expect'>,
  ): Promise<Case | null> {
    const rows = await this.#parts.store(projectId).read.all<{ id: string }>(sql`
      select ${cases}.id as id from ${calls} join ${cases} on call_seq = ${calls}.seq
      where ${calls}.project_id = ${projectId} and ${calls}.id = ${call} and turn = ${turn}`)
    const ids = rows.map(({ id }) => id)
    for await (const found of this.#read(projectId, ids)) if (found.expect === expect) return found
    return null
  }

  /** Which of these cases there are, in any project. */
  async existing(ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#parts.read.all<{ id: string }>(sql`
      select id from ${cases} where id in (select value from json_each(${JSON.stringify(ids)}))`)
    return new Set(rows.map(({ id }) => id))
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<Case> {
    for await (const found of this.#read(projectId, [id])) return found
    throw noCase()
  }

  /** A page of the cases, the newest first. @param call only those of this call @param cursor the `next` of another page */
  async page(
    projectId: number,
    { call, limit, cursor }: { call?: string | undefined; limit: number; cursor?: string | undefined },
  ): Promise<{ cases: AsyncGenerator<Case>; next: string | null }> {
    // Ids are in the order in which they were made.
    const rows = await this.#parts.store(projectId).read.all<{ id: string }>(sql`
      select ${cases}.id as id from ${cases} join ${calls} on ${calls}.seq = call_seq
      where ${cases}.project_id = ${projectId} and (${call ?? null} is null or ${calls}.id = ${call ?? null})
        and (${cursor ?? null} is null or ${cases}.id < ${cursor ?? null})
      order by ${cases}.id desc limit ${limit + 1}`)
    const ids = rows.slice(0, limit).map(({ id }) => id)
    return { cases: this.#read(projectId, ids), next: rows.length > limit ? (ids.at(-1) ?? null) : null }
  }

  /** The cases that are exported: those with these ids, or all, the oldest first. @throws not_found for an unknown id */
  async exported(projectId: number, ids?: readonly string[]): Promise<AsyncGenerator<Case>> {
    const rows = await this.#parts
      .store(projectId)
      .read.all<{ id: string }>(sql`select id from ${cases} where project_id = ${projectId} order by id`)
    const all = rows.map(({ id }) => id)
    if (!ids) return this.#read(projectId, all)
    const known = new Set(all)
    if (!ids.every((id) => known.has(id))) throw noCase()
    return this.#read(projectId, [...new Set(ids)])
  }

  /** The formats of exports, and what each can test. */
  formats(): { name: string; file: string; about: string }[] {
    return Object.entries(formats).map(([name, { file, about }]) => ({ name, file, about }))
  }

  /** Notes that cases leave the service. Never fails. @param format in which they do */
  async noteExport(projectId: number, format: string, by?: ActedBy): Promise<void> {
    await this.#parts.audit.record({ by, projectId, action: 'cases_exported', target: format })
  }

  /** @throws not_found */
  async delete(projectId: number, id: string, by?: ActedBy): Promise<{ id: string; deleted: true }> {
    const { store, audit, erasure } = this.#parts
    const isThis = sql`project_id = ${projectId} and id = ${id}`
    const { deleted } = await store(projectId).writeWhenFull.batch({
      ledger: erasing(
        this.#parts,
        { projectId, kind: 'cases', id: '' },
        sql`exists (select 1 from ${cases} where ${isThis})`,
      ),
      deleted: sql`delete from ${cases} where ${isThis}`,
      entry: audit.entry({ by, projectId, action: 'case_deleted', target: id, targetRef: id }),
    })
    if (deleted.rowsAffected === 0) throw noCase()
    erasure.schedule(projectId)
    return { id, deleted: true }
  }

  /** What a case has of its call, redacted. */
  async #contentOf(projectId: number, request: CaseRequest): Promise<CaseContent> {
    const { call, turn, criterion = null, lastTurns } = request
    const conversation = await this.#parts.calls.conversation(projectId, call)
    if (conversation.status === 'live')
      throw new AppError('call_is_live', 'Call is live', {
        detail: 'A case is made of a call that is completed.',
      })
    const pieces = cut(conversation, turn, lastTurns)
    if (typeof pieces === 'string') throw invalidRequest([{ field: 'turn', message: pieces }])
    const expect = request.expect ?? (await this.#expectation(projectId, criterion, conversation.note))
    return await this.#redacted(projectId, { ...pieces, name: request.name ?? '', expect, criterion })
  }

  async #expectation(projectId: number, criterion: string | null, note: string | null): Promise<string> {
    if (criterion !== null) {
      const rubric = await this.#parts.rubrics.find(projectId)
      const question = rubric?.criteria.find(({ id }) => id === criterion)?.question
      if (question !== undefined) return question
      throw invalidRequest([{ field: 'criterion', message: 'is no question of the rubric in force' }])
    }
    if (note === null)
      throw invalidRequest([{ field: 'expect', message: 'is required, since the review has no note' }])
    if ([...note].length > expectCharsMax)
      throw invalidRequest([
        { field: 'expect', message: 'is required, since the note of the review is too long for one' },
      ])
    return note
  }

  async #redacted(projectId: number, content: CaseContent): Promise<CaseContent> {
    const redact = await redactor(await this.#parts.settingsOf(projectId))
    return await this.#slices.run(redactedCase(content, redact))
  }

  /** Reads cases one after the other. Those that are deleted meanwhile are absent. */
  async *#read(projectId: number, ids: readonly string[]): AsyncGenerator<Case> {
    for (let from = 0; from < ids.length; from += casesPerRead) {
      const some = JSON.stringify(ids.slice(from, from + casesPerRead))
      const rows = await this.#parts.store(projectId).read.all<CaseRow & { content: string }>(sql`
        select ${cases}.id as id, ${calls}.id as call, turn, content, ${cases}.created_at as createdAt,
          created_by as createdBy
        from json_each(${some}) as wanted cross join ${cases} on ${cases}.project_id = ${projectId}
            and ${cases}.id = wanted.value
          cross join ${calls} on ${calls}.seq = call_seq
        order by wanted.key`)
      for (const { content, ...row } of rows) {
        // Redaction may have been switched on since. Only `create` writes these texts.
        const stored: CaseContent = JSON.parse(content)
        yield toCase(row, await this.#redacted(projectId, stored))
      }
    }
  }
}

interface CaseRow extends Pick<Case, 'id' | 'call' | 'turn' | 'createdBy'> {
  createdAt: number
}

/** @throws invalid_request naming each bad field */
function readRequest(request: unknown): CaseRequest {
  const read = check(request)
  const errors = requestErrors(read)
  if (errors.length > 0) throw invalidRequest(errors)
  return read
}

function toCase({ id, call, turn, createdAt, createdBy }: CaseRow, content: CaseContent): Case {
  const { name, ...others } = content
  return { id, name, call, turn, ...others, createdAt: new Date(createdAt).toISOString(), createdBy }
}

/** @throws payload_too_large */
function refuseLarge(made: Case): void {
  if (Buffer.byteLength(JSON.stringify(made)) <= caseBytesMax) return
  throw new AppError('payload_too_large', 'Payload too large', {
    detail: `The case would have more than ${caseBytesMax} bytes. Keep fewer turns with lastTurns.`,
  })
}

function noCase(): AppError {
  return notFound(
    'No case in this project has this id. It may have been deleted with its call.',
    'Case not found',
  )
}
