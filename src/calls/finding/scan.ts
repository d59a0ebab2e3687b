import type { Period } from './period.ts'
import type { Statement } from './statement.ts'

/** How to look through all calls of a search. It can be sent to another thread. */
export interface Scan extends Period {
  projectId: number
  /** What else a row of `calls` must meet. */
  where: Statement
  rows: /** With \`newest\`, only about so many of the project's newest calls. */
    | { kind: 'created'; newest?: number }
    /** Those completed in a period. */
    | ({ kind: 'completed' } & Period)
    | { kind: 'seqs'; seqs: readonly number[] }
    /** Each part selects `seq`. */
    | { kind: 'parts'; parts: Statement[] }
}

/** Runs a query and returns its rows as arrays. */
export type ReadRows = (sql: string, params: readonly unknown[]) => unknown[][] | Promise<unknown[][]>

/** Parts of a statement from `from` on, which together have each call of the scan once. Each has some `size` calls. */
export async function* slicesOf(
  { projectId, where, rows, from, to }: Scan,
  read: ReadRows,
  size: number,
): AsyncGenerator<Statement> {
  const isOwn = 'calls.project_id = ? and calls.created_at >= ? and calls.created_at < ?'
  const own = [projectId, from, to]
  const checked = (head: string, params: readonly unknown[]): Statement => ({
    sql: `${head} and (${where.sql})`,
    params: [...params, ...where.params],
  })
  switch (rows.kind) {
    case 'seqs':
      for (let at = 0; at < rows.seqs.length; at += size) {
        const seqs = JSON.stringify(rows.seqs.slice(at, at + size))
        yield checked(
          `from json_each(?) as listed cross join calls not indexed on calls.seq = listed.value where ${isOwn}`,
          [seqs, ...own],
        )
      }
      return
    case 'parts':
      for (const part of rows.parts)
        yield checked(
          `from (${part.sql}) as found cross join calls not indexed on calls.seq = found.seq where ${isOwn}`,
          [...part.params, ...own],
        )
      return
    case 'created':
    case 'completed': {
      const column = rows.kind === 'created' ? 'created_at' : 'completed_at'
      const ofProject = `from calls indexed by calls_by_${column} where calls.project_id = ?`
      const period = rows.kind === 'created' ? { from, to } : rows
      if (rows.kind === 'created' && rows.newest !== undefined) {
        const [before] = await read(
          `select created_at ${ofProject} order by created_at desc limit 1 offset ?`,
          [projectId, rows.newest],
        )
        period.from = Math.max(from, Number(before?.[0] ?? from))
      }
      for await (const part of cut(read, { ...period, size }, ofProject, column, [projectId]))
        yield checked(`${ofProject} and calls.${column} >= ? and calls.${column} < ?`, [
          projectId,
          part.from,
          part.to,
        ])
    }
  }
}

/** Cuts a period after each `size` rows, so that rows of one moment stay together. */
async function* cut(
  read: ReadRows,
  { from, to, size }: Period & { size: number },
  rows: string,
  time: string,
  params: readonly unknown[],
): AsyncGenerator<Period> {
  for (let start = from; start < to; ) {
    const query = `select ${time} ${rows} and ${time} >= ? and ${time} < ? order by ${time} limit 1 offset ?`
    const [end] = await read(query, [...params, start, to, size])
    const at = end ? Math.max(Number(end[0]), start + 1) : to
    yield { from: start, to: at }
    start = at
  }
}
