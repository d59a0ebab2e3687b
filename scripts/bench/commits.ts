import Database from 'libsql'

// Bare commits: rows of a call's size, each in a transaction of its own that is synced, one after another.

const [file = '', rowChars = '0', seconds = '0'] = process.argv.slice(2)
const connection = new Database(file)
connection.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; create table rows (text text not null)',
)
const insert = connection.prepare('insert into rows (text) values (?)')
const text = 'x'.repeat(Number(rowChars))
const startedAt = performance.now()
let commits = 0
while (performance.now() < startedAt + Number(seconds) * 1_000) {
  insert.run([text])
  commits++
}
process.stdout.write(`${(commits * 1_000) / (performance.now() - startedAt)}\n`)
