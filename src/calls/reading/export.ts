import { sql } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { inSlices } from '../../db/slices.ts'
import { preparedQueries } from '../../db/store.ts'
import { detailsBytes } from '../details.ts'
import type { JsonBytes } from '../document.ts'
import type { FoundPages } from '../finding/found-pages.ts'
import type { CallForm } from './forms.ts'

/** Calls found per query. Their documents follow in slices. */
const placesMax = 1_000
/** Documents are read up to about this many characters at once. */
export const exportedCharsMax = 262_144

const queries = preparedQueries((db) => ({
  detailsBytes: db
    .select({ seq: sql<number>`seq`, chars: detailsBytes })
    .from(sql`json_each(${sql.placeholder('seqs')}) cross join call_details on call_details.seq = value`)
    .prepare(),
}))

/** How to export the calls of a search. */
export interface ExportOptions {
  /** The database to read documents from. */
  read: ReadDatabase
  form: CallForm
  limit?: number | undefined
  offset?: number | undefined
  /** Called with the number of calls of each part. */
  onPart?: ((calls: number) => void) | undefined
}

/**
 * The calls that a search finds, in parts. Each part continues where the previous one ended, so that concurrent changes
 * neither skip nor repeat calls.
 */
export async function* exportCalls(
  pages: FoundPages,
  { read, form, limit = Number.POSITIVE_INFINITY, offset = 0, onPart }: ExportOptions,
): AsyncGenerator<string | JsonBytes> {
  let left = limit
  let start: Parameters<FoundPages['page']>[1] = { offset }
  while (left > 0) {
    const { places, end } = await pages.page(Math.min(left, placesMax), start)
    for (const seqs of inSlices(await sizesOf(read, form, places), exportedCharsMax)) {
      const part = await form.read(read, JSON.stringify(seqs))
      if (part.length > 0) yield part
      onPart?.(seqs.length)
    }
    if (!end) return
    left -= places.length
    start = { after: end }
  }
}

/** The row number and the size of each call, in the form. */
export async function sizesOf(
  read: ReadDatabase,
  { isDetailed }: Pick<CallForm, 'isDetailed'>,
  places: readonly { seq: number; chars: number }[],
): Promise<(readonly [number, number])[]> {
  const seqs = JSON.stringify(places.map(({ seq }) => seq))
  const rows = isDetailed ? await queries(read).detailsBytes.all({ seqs }) : []
  const more = new Map(rows.map(({ seq, chars }) => [seq, chars]))
  return places.map(({ seq, chars }) => [seq, chars + (more.get(seq) ?? 0)])
}
