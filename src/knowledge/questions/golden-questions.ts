import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Core } from '../../core/core.ts'
import { erasing } from '../../db/erasing.ts'
import { goldenQuestions, knowledgeItems, people, questions } from '../../db/schema.ts'
import type { Erasure } from '../../erasure/erasure.ts'
import { AppError, forbidden, invalidRequest, notFound } from '../../errors.ts'
import { redactor } from '../../redaction/settings.ts'
import { cutToChars } from '../../text/cut.ts'
import { allOf, type TagFilter } from '../../text/tags.ts'
import { TimeSlices } from '../../threads/time-slices.ts'
import type { Questions } from './questions.ts'
import { hasWordsOf, wordingOf } from './wording.ts'

/** All are asked after every change of knowledge. */
const goldenMax = 200
const shownCharsMax = 60

/** A question to keep, with the item that answers it. */
export interface NewGolden {
  query: string
  itemId: string
  /** The tags within which it is asked; none by default. */
  tags?: TagFilter
  /** The call in which it was asked, if the person saw it there. */
  callId?: string
  /** Whether the person agrees to keep a caller's words. */
  keepsWordsOfCall?: boolean
  /** The golden question whose place it takes. */
  replaces?: string
}

export interface GoldenQuestion {
  /** `gq_…`. */
  id: string
  query: string
  tags: TagFilter
  /** The file that has it in its front matter; null for a person's. */
  file: string | null
  /** Null once it is deleted. */
  item: { id: string; name: string } | null
  /** The call whose caller's words these are: they are erased with it. Null for a person's own words. */
  callId: string | null
  createdAt: string
  createdBy: string | null
}

/** The questions in the front matter of a file, which its item answers. */
export interface FileQuestions {
  path: string
  itemId: string
  questions: readonly string[]
}

interface GoldenParts {
  erasure: Pick<Erasure, 'schedule'>
  /** Questions that wait to be written are among those that a text is compared with. */
  questions: Pick<Questions, 'flush'>
}

/** Questions that people saved with the item that answers them. */
export class GoldenQuestions {
  readonly #parts: Core & GoldenParts
  readonly #slices = new TimeSlices()

  constructor(core: Core, parts: GoldenParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Returns all of them, the newest first. `seq` is the row number. */
  async list(projectId: number): Promise<(GoldenQuestion & { seq: number; wording: string })[]> {
    const rows = await this.#parts.store(projectId).read.all<{
      seq: number
      id: string
      query: string
      wording: string
      tags: string
      file: string | null
      callId: string | null
      createdAt: number
      createdBy: string | null
      itemId: string | null
      itemName: string | null
    }>(sql`
      select golden.seq, golden.id, query, wording, golden.tags, file, call_id as callId, golden.created_at as createdAt,
        ${people}.name as createdBy, items.id as itemId, items.name as itemName
      from ${goldenQuestions} as golden
      left join ${knowledgeItems} as items on items.seq = item_seq and items.project_id = golden.project_id
      left join ${people} on ${people}.id = golden.created_by
      where golden.project_id = ${projectId} order by golden.seq desc limit ${goldenMax}`)
    return rows.map(({ itemId, itemName, tags, createdAt, ...row }) => ({
      ...row,
      // As this class stored it.
      tags: JSON.parse(tags),
      item: itemId === null || itemName === null ? null : { id: itemId, name: itemName },
      createdAt: new Date(createdAt).toISOString(),
    }))
  }

  /**
   * Keeps a question; of one that is kept already, only the item is changed. A text that was asked in a call stays bound
   * to it, unless it was reworded. Returns the text as it is stored: redacted as the project says.
   * @param personId null for whoever holds a key
   * @throws words_of_a_call unless the person agrees to that; invalid_request for an unknown item; not_found for an
   * unknown question or call; forbidden for too many
   */
  async keep(
    projectId: number,
    golden: NewGolden,
    personId: string | null,
  ): Promise<{ id: string; query: string; isNew: boolean }> {
    const { recordHash, questions, erasure } = this.#parts
    const { write } = this.#parts.store(projectId)
    await questions.flush()
    const query = await this.#redacted(projectId, golden.query)
    const tags = allOf(golden.tags ?? [])
    const wording = wordingOf(recordHash, projectId, { query, tags })
    const entry: Entry = { ...golden, query, projectId, wording }
    const id = newGoldenId()
    const { replaces = '' } = golden
    const isOther = sql`project_id = ${projectId} and id = ${replaces} and wording <> ${entry.wording}`
    const { removed, kept } = await write.batchIf(requirementsOf(entry), {
      ledger: this.#erasing(projectId, sql`exists (select 1 from ${goldenQuestions} where ${isOther})`),
      removed: sql`delete from ${goldenQuestions} where ${isOther}`,
      kept: write.all<{ id: string }>(sql`
        insert into ${goldenQuestions} (id, project_id, call_id, wording, query, tags, item_seq, created_at, created_by)
        select ${id}, ${projectId}, ${callOf(entry)}, ${wording}, ${query}, ${JSON.stringify(tags)}, ${itemOf(entry)},
          ${this.#parts.now()}, ${personId}
        where true
        on conflict (project_id, wording) do update set item_seq = excluded.item_seq, file = null returning id`),
    })
    if (removed.rowsAffected > 0) erasure.schedule(projectId)
    return { id: kept[0]?.id ?? id, query, isNew: kept[0]?.id === id }
  }

  /** @throws not_found */
  async get(projectId: number, id: string): Promise<GoldenQuestion> {
    const golden = (await this.list(projectId)).find((question) => question.id === id)
    if (!golden) throw noSuchGolden()
    return golden
  }

  /** @throws not_found */
  async delete(projectId: number, id: string): Promise<{ id: string; deleted: true }> {
    const { store, erasure } = this.#parts
    const isThis = sql`project_id = ${projectId} and id = ${id}`
    const { deleted } = await store(projectId).writeWhenFull.batch({
      ledger: this.#erasing(projectId, sql`exists (select 1 from ${goldenQuestions} where ${isThis})`),
      deleted: sql`delete from ${goldenQuestions} where ${isThis}`,
    })
    if (deleted.rowsAffected === 0) throw noSuchGolden()
    erasure.schedule(projectId)
    return { id, deleted: true }
  }

  /**
   * Makes the golden questions of a set's files those that their front matter names. One that a person keeps is never
   * taken over, and of two files the first has it. One that equals a caller's words is bound to that call.
   * @param prefix begins the ids of the set's items
   * @param isThere whether a file that is not among these may still have its questions
   * @returns what was left out, and why
   */
  async keepOfFiles(
    projectId: number,
    {
      prefix,
      files,
      isThere,
    }: { prefix: string; files: readonly FileQuestions[]; isThere: (path: string) => boolean },
  ): Promise<{ path: string; message: string }[]> {
    const { recordHash, questions: asked, store, erasure, now } = this.#parts
    await asked.flush()
    const read = new Set(files.map(({ path }) => path))
    const isOurs = ({ file, item }: GoldenQuestion) =>
      file !== null && item?.id.startsWith(prefix) === true && (read.has(file) || !isThere(file))
    const all = await this.list(projectId)
    const ours = all.filter(isOurs)
    const taken = new Set(all.filter((golden) => !isOurs(golden)).map(({ wording }) => wording))
    const wanted: (Entry & { path: string })[] = []
    const warnings: { path: string; message: string }[] = []
    for (const { path, itemId, questions } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
      for (const question of questions) {
        const query = await this.#redacted(projectId, question)
        const wording = wordingOf(recordHash, projectId, { query, tags: [] })
        const shown = JSON.stringify(cutToChars(query, shownCharsMax))
        if (taken.has(wording)) warnings.push({ path, message: `${shown} is kept already, and was left out` })
        else if (taken.size >= goldenMax)
          warnings.push({
            path,
            message: `${shown} is beyond the ${goldenMax} of a project, and was left out`,
          })
        else wanted.push({ projectId, query, wording, itemId, path })
        if (taken.size < goldenMax) taken.add(wording)
      }
    const keyOf = (...parts: (string | null | undefined)[]) => JSON.stringify(parts)
    const before = new Set(ours.map(({ query, item, file }) => keyOf(query, item?.id, file)))
    const changed = wanted.filter(({ query, itemId, path }) => !before.has(keyOf(query, itemId, path)))
    const wordings = JSON.stringify(wanted.map(({ wording }) => wording))
    const gone = sql`select seq from ${goldenQuestions} where project_id = ${projectId}
      and seq in (select value from json_each(${JSON.stringify(ours.map(({ seq }) => seq))}))
      and wording not in (select value from json_each(${wordings}))`
    const { deleted } = await store(projectId).write.batch({
      ledger: this.#erasing(projectId, sql`exists (${gone})`),
      deleted: sql`delete from ${goldenQuestions} where seq in (${gone})`,
      kept: changed.map(
        (entry) => sql`
          insert into ${goldenQuestions} (id, project_id, call_id, wording, query, file, item_seq, created_at)
          select ${newGoldenId()}, ${projectId}, ${callOf(entry)}, ${entry.wording}, ${entry.query}, ${entry.path},
            ${itemOf(entry)}, ${now()}
          where ${itemOf(entry)} is not null
          on conflict (project_id, wording) do update set query = excluded.query, item_seq = excluded.item_seq, file = excluded.file
            where golden_questions.file is not null`,
      ),
    })
    if (deleted.rowsAffected > 0) erasure.schedule(projectId)
    return warnings
  }

  #erasing(projectId: number, condition: SQL): SQL {
    return erasing(this.#parts, { projectId, kind: 'questions', id: '' }, condition)
  }

  async #redacted(projectId: number, query: string): Promise<string> {
    const redact = await redactor(await this.#parts.settingsOf(projectId))
    return (await this.#slices.run(redact(query, '', {}))).trim()
  }
}

function newGoldenId(): string {
  return `gq_${randomBytes(12).toString('hex')}`
}

interface Entry extends NewGolden {
  projectId: number
  wording: string
}

const askedInCall = ({ projectId, wording }: Entry) => sql`
  from ${questions} where project_id = ${projectId} and ${hasWordsOf(wording)} and call_id is not null`

/** SQL: the call whose words these are: that in which the person saw them, or the last one. */
function callOf(entry: Entry): SQL {
  return sql`(select call_id ${askedInCall(entry)} order by call_id = ${entry.callId ?? ''} desc, at desc limit 1)`
}

/** SQL: the row number of the item. */
function itemOf({ projectId, itemId }: Entry): SQL {
  return sql`(select seq from ${knowledgeItems} where project_id = ${projectId} and id = ${itemId})`
}

/** Within the transaction, since a call and its questions may be erased at any moment. */
function requirementsOf(entry: Entry) {
  const { projectId, wording, callId = null, keepsWordsOfCall = false } = entry
  const ofProject = sql`select 1 from ${goldenQuestions} where project_id = ${projectId}`
  return [
    {
      condition: sql`${itemOf(entry)} is not null`,
      otherwise: () => invalidRequest([{ field: 'itemId', message: 'is not an item of the project' }]),
    },
    {
      condition: sql`(${callId} is null or exists (select 1 ${askedInCall(entry)} and call_id = ${callId}))`,
      otherwise: () => notFound('The question is gone with its call, or was never asked in it.'),
    },
    {
      condition: sql`(${keepsWordsOfCall ? 1 : 0} or not exists (select 1 ${askedInCall(entry)}))`,
      otherwise: wordsOfCall,
    },
    {
      condition: sql`(exists (${ofProject} and wording = ${wording})
        or (select count(*) from (${ofProject})) < ${goldenMax})`,
      otherwise: () => forbidden(`A project keeps at most ${goldenMax} golden questions. Delete one first.`),
    },
  ]
}

function noSuchGolden(): AppError {
  return notFound('There is no such golden question.', 'Question not found')
}

function wordsOfCall(): AppError {
  return new AppError('words_of_a_call', 'These words were said in a call', {
    detail:
      'Kept as they are, they are erased with the call. Reword the question to keep it longer, or agree to that.',
  })
}
