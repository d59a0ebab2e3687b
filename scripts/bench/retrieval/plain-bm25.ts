import Database from 'libsql'
import type { Question, QuestionSet } from './sets.ts'

const hitsMax = 10

export interface PlainAnswers {
  /** The ids of the passages found for each question, best first. */
  found: string[][]
  latenciesMs: number[]
}

/**
 * FTS5 alone: one row a passage with its title, and a query's words joined by OR. Every search has to be better than
 * this.
 */
export function searchByPlainBm25({ passages, questions }: QuestionSet): PlainAnswers {
  const db = new Database(':memory:')
  try {
    db.exec(`create virtual table passages using fts5(text, tokenize = 'porter unicode61')`)
    const insert = db.prepare('insert into passages (rowid, text) values (?, ?)')
    for (const [index, { title, text }] of passages.entries()) insert.run(index + 1, `${title}\n${text}`)
    const search = db.prepare(
      `select rowid from passages where passages match ? order by rank, rowid limit ${hitsMax}`,
    )
    const latenciesMs: number[] = []
    const found = questions.map((question) => {
      const startedAt = performance.now()
      const rows = asRows(search.all(matchAnyWord(question)))
      latenciesMs.push(performance.now() - startedAt)
      return rows.map(({ rowid }) => passages[rowid - 1]?.doc_id ?? '')
    })
    return { found, latenciesMs }
  } finally {
    db.close()
  }
}

function matchAnyWord({ query }: Question): string {
  const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  return words.map((word) => `"${word}"`).join(' OR ')
}

/** A row has the columns that its statement names. */
function asRows(rows: unknown[]): { rowid: number }[] {
  return rows as { rowid: number }[]
}
