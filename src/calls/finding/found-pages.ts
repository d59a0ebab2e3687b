import { type SQL, sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { inSlices, type SizedRow } from '../../db/slices.ts'
import { servedDocument } from '../document.ts'
import { type CallSearch, isFiltered } from './call-query.ts'
import { CallFinder, type FoundPlace, totalMax } from './find-calls.ts'
import type { Place } from './place.ts'
import type { Scan } from './scan.ts'

/** A phrase search checks this many calls, then returns what it has found so far. */
const checkedMax = 2_000
/** The same limit in characters of documents. */
const checkedCharsMax = 40_000_000
/** Calls per page where all are read. */
const pageMax = 1_000
/** Candidates found per query. */
const placesMax = 500
/** Documents are checked in slices of about this many characters (about 5 ms), so that other reads run in between. */
const sliceCharsMax = 500_000

/** A page of the calls that a search finds. */
interface FoundPage {
  places: FoundPlace[]
  /** Where the page ends; null when no page follows. */
  end: Place | null
}

interface PageRequest {
  offset?: number | undefined
  /** Where the previous page ended. */
  after?: Place | undefined
}

/**
 * Pages of search results. The word index does not record positions, so phrases are checked in the documents: a page of
 * a phrase search can be short or empty although more pages follow.
 */
export class FoundPages {
  readonly #db: ReadDatabase
  readonly #search: CallSearch
  /** For the search without its cursor. */
  readonly #finder: CallFinder
  /** Whether checked calls have the phrases, by row number. */
  readonly #checked = new Map<number, boolean>()

  /** @param read answers short queries sooner */
  constructor(db: ReadDatabase, projectId: number, search: CallSearch, read = db) {
    this.#db = db
    this.#search = search
    const { after: _, ...whole } = search
    this.#finder = new CallFinder(db, projectId, whole, { read })
  }

  /** The first calls in the search's order, after the previous page. */
  async page(
    limit: number,
    { offset = 0, after = this.#search.after }: PageRequest = {},
  ): Promise<FoundPage> {
    if (limit === 0) return { places: [], end: null }
    if (this.#hasPhrases) return await this.#pageOfPhrases(limit, offset, after)
    const found = await this.#finder.places(limit + 1, { offset, after })
    const places = found.slice(0, limit)
    return { places, end: found.length > limit ? (places.at(-1) ?? null) : null }
  }

  /** All calls in the search's order, page by page; a page of a phrase can be empty. */
  async *all(): AsyncGenerator<FoundPlace[]> {
    for (let start: PageRequest = {}; ; ) {
      const { places, end } = await this.page(pageMax, start)
      yield places
      if (!end) return
      start = { after: end }
    }
  }

  /** How many calls match: exact without filters, otherwise counted to `totalMax`; for a phrase, as far as a page reads. */
  async count(): Promise<{ total: number; isCapped: boolean }> {
    if (this.#hasPhrases) {
      const { places, end } = await this.#pageOfPhrases(totalMax, 0, undefined)
      return { total: places.length, isCapped: end !== null }
    }
    const total = await this.#finder.count()
    const isCapped = isFiltered(this.#search) && total > totalMax
    return { total: isCapped ? totalMax : total, isCapped }
  }

  /** How to look through all calls that match, for figures. Phrases are checked first. */
  async scan(): Promise<Scan> {
    const scan = await this.#finder.scan()
    if (!this.#hasPhrases) return scan
    const seqs: number[] = []
    let after: Place | undefined
    do {
      const { places, end } = await this.#pageOfPhrases(checkedMax, 0, after)
      for (const { seq } of places) seqs.push(seq)
      after = end ?? undefined
    } while (after)
    return { ...scan, where: { sql: 'true', params: [] }, rows: { kind: 'seqs', seqs } }
  }

  /** The same, but for the first calls in the search's order alone. */
  async scanOfFirst(limit: number): Promise<Scan> {
    const scan = await this.scan()
    if (scan.rows.kind === 'seqs')
      return { ...scan, rows: { ...scan.rows, seqs: scan.rows.seqs.slice(0, limit) } }
    const places = await this.#finder.places(limit)
    return { ...scan, rows: { kind: 'seqs', seqs: places.map(({ seq }) => seq) } }
  }

  get #hasPhrases(): boolean {
    return (this.#search.phrases ?? []).length > 0
  }

  async #pageOfPhrases(limit: number, offset: number, after: Place | undefined): Promise<FoundPage> {
    // Only the first page can reuse what `count` has checked.
    if (after) this.#checked.clear()
    const found: FoundPlace[] = []
    let [start, checked, chars] = [after, 0, 0]
    while (true) {
      const candidates = await this.#finder.places(placesMax, { after: start })
      const places = new Map(candidates.map((place) => [place.seq, place]))
      for (const seqs of inSlices(sizesOf(candidates), sliceCharsMax)) {
        const having = await this.#withPhrases(seqs)
        const slice = seqs.flatMap((seq) => places.get(seq) ?? [])
        found.push(...slice.filter(({ seq }) => having.has(seq)))
        const page = found.slice(offset, offset + limit)
        if (found.length > offset + limit) return { places: page, end: page.at(-1) ?? null }
        checked += slice.length
        chars += slice.reduce((sum, place) => sum + place.chars, 0)
        start = slice.at(-1)
        // A cursor does not tell how much of the offset is left.
        const isSpent = (checked >= checkedMax || chars >= checkedCharsMax) && found.length >= offset
        if (isSpent && start) return { places: page, end: start }
      }
      if (candidates.length < placesMax) return { places: found.slice(offset), end: null }
    }
  }

  async #withPhrases(seqs: readonly number[]): Promise<Set<number>> {
    const unchecked = seqs.filter((seq) => !this.#checked.has(seq))
    const phrases = (this.#search.phrases ?? []).map((phrase) => hasPhrase(phrase))
    const rows =
      unchecked.length === 0
        ? []
        : await this.#db.select({ seq: sql<number>`call_documents.seq` }).from(
            sql`json_each(${JSON.stringify(unchecked)}) as wanted
              cross join call_documents on call_documents.seq = wanted.value and ${sql.join(phrases, sql` and `)}`,
          )
    for (const seq of unchecked) this.#checked.set(seq, false)
    for (const { seq } of rows) this.#checked.set(seq, true)
    return new Set(seqs.filter((seq) => this.#checked.get(seq)))
  }
}

function hasPhrase(phrase: string): SQL {
  const escaped = JSON.stringify(phrase)
    .slice(1, -1)
    .replace(/[\\%_]/g, '\\$&')
  return sql`${servedDocument} like ${`%${escaped}%`} escape '\\'`
}

/** As many of the page's calls as have documents of at most `charsMax` together; at least one. */
export function within(charsMax = Number.POSITIVE_INFINITY, page: FoundPage): FoundPage {
  let chars = 0
  const beyond = page.places.findIndex((place, at) => {
    chars += place.chars
    return at > 0 && chars > charsMax
  })
  if (beyond < 0) return page
  const places = page.places.slice(0, beyond)
  return { places, end: places.at(-1) ?? null }
}

/** The row number and the size of each call's document. */
export function sizesOf(places: readonly FoundPlace[]): SizedRow[] {
  return places.map(({ seq, chars }) => [seq, chars])
}
