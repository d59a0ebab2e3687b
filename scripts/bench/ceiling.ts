import Database from 'libsql'

// The upper bound for this runtime and database: one prepared statement behind a bare server, without keys, routes,
// log or limits.

const [file = '', project = '', what = '', limit = '', offset = ''] = process.argv.slice(2)
const projectId = Number(project)
const headers = { 'Content-Type': 'application/json' }

const connection = new Database(file)
connection.exec('PRAGMA query_only = ON')
connection.exec('PRAGMA mmap_size = 1073741824')
const fetch = what === 'page' ? pages(Number(limit), Number(offset)) : callsById()
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
process.stdout.write(`${server.url.origin}\n`)

function callsById() {
  const statement = connection.prepare(`
    select document from calls join call_documents on call_documents.seq = calls.seq
    where project_id = ${projectId} and id = ?`)
  return (request: Request) => {
    const row = asRow(statement.get(request.url.slice(request.url.lastIndexOf('/') + 1)))
    return row ? new Response(row.document, { headers }) : new Response(null, { status: 404 })
  }
}

/** The total is counted once, at the start. */
function pages(limit: number, offset: number) {
  const { total } = asRow<{ total: number }>(
    connection.prepare('select count(*) as total from calls where project_id = ?').get(projectId),
  ) ?? { total: 0 }
  const statement = connection.prepare(`
    select group_concat(document, ',') as document from (
      select document from (
        select seq from calls where project_id = ${projectId} order by created_at desc, id desc limit ? offset ?
      ) page cross join call_documents on call_documents.seq = page.seq
    )`)
  const tail = `],"pagination":{"total":${total},"limit":${limit},"offset":${offset}}}`
  return () => {
    const row = asRow(statement.get(limit, offset))
    return new Response(`{"data":[${row?.document ?? ''}${tail}`, { headers })
  }
}

/** A row has the columns that its statement names. */
function asRow<Row = { document: string }>(row: unknown): Row | undefined {
  return row as Row | undefined
}
