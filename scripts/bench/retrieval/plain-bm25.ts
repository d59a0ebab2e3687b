import Database from 'libsql'
import type { QuestionSet } from './sets.ts'

const hitsMax = 10

/**
 * The ids of the passages that FTS5 alone finds for each question, best first: one row a passage with its title, and a
 * query's words joined by OR. Every search has to be better than this.
 */
export function searchByPlainBm25({ passages, questions }: Omit<QuestionSet, 'name'>): string[][] {
  const db = new Database(':memory:')
  try {
    db.exec(`create virtual table passages using fts5(text, tokenize = 'porter unicode61')`)
    const insert = db.prepare('insert into passages (rowid, text) values (?, ?)')
    for (const [index, { title, text }] of passages.entries()) insert.run(index + 1, `${title}\n${text}`)
    const search = db
      .prepare(`select rowid from passages where passages match ? order by rank, rowid limit ${hitsMax}`)
      .pluck()
    return questions.map(({ query }) => {
      const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
      const rows = search.all(words.map((word) => `"${word}"`).join(' OR '))
      return rows.map((row) => passages[Number(row) - 1]?.doc_id ?? '')
    })
  } finally {
    db.close()
  }
}
