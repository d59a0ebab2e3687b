import Database from 'libsql'

// The upper bound for this runtime and database: one prepared statement behind a bare server, without keys, routes,
// log or limits.

const [file = '', projectId = ''] = process.argv.slice(2)
const headers = { 'Content-Type': 'application/json' }
const connection = new Database(file)
connection.exec('PRAGMA query_only = ON')
connection.exec('PRAGMA mmap_size = 1073741824')
const statement = connection.prepare(`
  select document from calls join call_documents on call_documents.seq = calls.seq
  where project_id = ${Number(projectId)} and id = ?`)
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const id = request.url.slice(request.url.lastIndexOf('/') + 1)
    // The row has the column that the statement names.
    const row = statement.get(id) as { document: string } | undefined
    return row ? new Response(row.document, { headers }) : new Response(null, { status: 404 })
  },
})
process.stdout.write(`${server.url.origin}\n`)
