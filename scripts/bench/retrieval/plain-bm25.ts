import Database from 'libsql'
import type { QuestionSet } from './sets.ts'

const hitsMax = 10
const saturation = 1.2
const rarityMin = 1e-6

/** What FTS5 alone finds: one row a passage with its title, and a query's words joined by OR. */
export interface PlainAnswer {
  /** The ids of the passages, best first. Every search has to be better than this. */
  found: string[]
  /** The score of the first one over the highest that any passage could have. */
  coverage: number
}

export function searchByPlainBm25({ passages, questions }: Omit<QuestionSet, 'name'>): PlainAnswer[] {
  const db = new Database(':memory:')
  try {
    db.exec(`create virtual table passages using fts5(text, tokenize = 'porter unicode61')`)
    const insert = db.prepare('insert into passages (rowid, text) values (?, ?)')
    for (const [index, { title, text }] of passages.entries()) insert.run(index + 1, `${title}\n${text}`)
    const search = db.prepare(
      `select rowid, rank from passages where passages match ? order by rank, rowid limit ${hitsMax}`,
    )
    const count = db.prepare('select count(*) as rows from passages where passages match ?')
    const highest = (word: string) => {
      const [{ rows }] = count.all(word) as [{ rows: number }]
      const rarity = Math.log((passages.length - rows + 0.5) / (rows + 0.5))
      return Math.max(rarityMin, rarity) * (saturation + 1)
    }
    return questions.map(({ query }) => {
      const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu))
      const quoted = [...words].map((word) => `"${word}"`)
      const rows = search.all(quoted.join(' OR ')) as { rowid: number; rank: number }[]
      const most = quoted.reduce((sum, word) => sum + highest(word), 0)
      return {
        found: rows.map(({ rowid }) => passages[rowid - 1]?.doc_id ?? ''),
        coverage: most === 0 ? 0 : -(rows[0]?.rank ?? 0) / most,
      }
    })
  } finally {
    db.close()
  }
}
