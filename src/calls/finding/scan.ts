import type { Period } from './period.ts'
import type { Statement } from './statement.ts'

/** How to look through all calls of a search. It can be sent to another thread. */
export interface Scan extends Period {
  projectId: number
  /** What else a row of `calls` must meet. */
  where: Statement
  rows:
    | { kind: 'created' }
    /** Those completed in a period. */
    | ({ kind: 'completed' } & Period)
    /** Those under one of these values in call_values. */
    | { kind: 'values'; values: string[] }
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
      for await (const period of cut(
        read,
        { from, to, size },
        'from calls indexed by calls_by_created_at where project_id = ?',
        'created_at',
        [projectId],
      ))
        yield checked(
          'from calls indexed by calls_by_created_at where calls.project_id = ? and calls.created_at >= ? and calls.created_at < ?',
          [projectId, period.from, period.to],
        )
      return
    case 'completed':
      for await (const period of cut(
        read,
        { ...rows, size },
        'from calls indexed by calls_by_completed_at where project_id = ?',
        'completed_at',
        [projectId],
      ))
        yield checked(
          `from calls indexed by calls_by_completed_at where calls.project_id = ? and calls.completed_at >= ? and calls.completed_at < ?`,
          [projectId, period.from, period.to],
        )
      return
    case 'values':
      for (const value of rows.values)
        for await (const period of cut(
          read,
          { from, to, size },
          'from call_values where project_id = ? and value = ?',
          'created_at',
          [projectId, value],
        ))
          yield checked(
            `from call_values cross join calls not indexed on calls.seq = call_values.seq
              where call_values.project_id = ? and call_values.value = ? and call_values.created_at >= ? and call_values.created_at < ?`,
            [projectId, value, period.from, period.to],
          )
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
