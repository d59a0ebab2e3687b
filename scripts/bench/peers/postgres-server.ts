import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { SQL } from 'bun'

// What a team would write itself: Postgres with a JSON document a call and the indexes of its queries, behind a bare
// server that checks keys. Postgres is started as its child, so that both are one tree of processes.

const [key = '', port = '', program = '', ...args] = process.argv.slice(2)
const postgres = spawn(program, args, { stdio: 'ignore' })
postgres.once('exit', (code) => process.exit(code ?? 1))
const sql = new SQL({ url: `postgres://postgres@127.0.0.1:${port}/postgres`, max: 10 })
for (;;) {
  const isReady = await sql`select 1`.then(
    () => true,
    () => false,
  )
  if (isReady) break
  await Bun.sleep(10)
}
await sql.unsafe(`
  create table if not exists api_keys (hash text primary key, project int not null);
  create table if not exists calls (
    project int not null, id text not null, created_at timestamptz not null,
    updated_at timestamptz not null default now(), status text not null, evaluation text, document jsonb not null,
    words tsvector generated always as (jsonb_to_tsvector('english', document->'transcript', '["string"]')) stored,
    primary key (project, id));
  create index if not exists calls_page on calls (project, created_at desc, id desc);
  create index if not exists calls_filter on calls (project, status, evaluation, created_at desc, id desc);
  create index if not exists calls_words on calls using gin (words)`)
await sql`insert into api_keys values (${hashOf(key)}, 1) on conflict do nothing`

const keys = new Map<string, { project: number; at: number }>()
const json = { headers: { 'content-type': 'application/json' } }
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/calls/:id': {
      GET: async (request) => {
        const project = await projectOf(request)
        const [row] = await sql`
          select document::text as document from calls where project = ${project} and id = ${request.params.id}`
        return row ? new Response(row.document, json) : new Response(null, { status: 404 })
      },
      PUT: async (request) => {
        const project = await projectOf(request)
        const call = { ...JSON.parse(await request.text()), id: request.params.id }
        if (typeof call.status !== 'string' || !Array.isArray(call.transcript))
          return Response.json({ error: 'Invalid call' }, { status: 400 })
        call.createdAt ??= new Date().toISOString()
        await sql`
          insert into calls (project, id, created_at, status, evaluation, document)
          values (${project}, ${call.id}, ${call.createdAt}, ${call.status}, ${call.evaluation ?? null},
            ${JSON.stringify(call)}::text::jsonb)
          on conflict (project, id) do update set created_at = excluded.created_at, updated_at = now(),
            status = excluded.status, evaluation = excluded.evaluation, document = excluded.document`
        return new Response('{"ok":true}', { status: 201, ...json })
      },
      DELETE: async (request) => {
        const project = await projectOf(request)
        const rows =
          await sql`delete from calls where project = ${project} and id = ${request.params.id} returning id`
        return new Response(null, { status: rows.length > 0 ? 204 : 404 })
      },
    },
    '/calls': async (request) => {
      const project = await projectOf(request)
      const query = new URL(request.url).searchParams
      const text = query.get('text')
      const which =
        text !== null
          ? sql`project = ${project} and words @@ plainto_tsquery('english', ${text})`
          : query.has('status')
            ? sql`project = ${project} and status = ${query.get('status')} and evaluation = ${query.get('evaluation')}`
            : sql`project = ${project}`
      const [[page], [counted]] = await Promise.all([
        sql`select string_agg(document::text, ',') as documents from (
          select document from calls where ${which} order by created_at desc, id desc limit ${Number(query.get('limit'))}) page`,
        sql`select count(*)::int as total from (select 1 from calls where ${which} limit 10001) found`,
      ])
      return new Response(`{"data":[${page.documents ?? ''}],"total":${counted.total}}`, json)
    },
  },
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => postgres.kill('SIGINT'))
process.stdout.write(`${server.url.origin}\n`)

/** A key is looked up once a second. */
async function projectOf(request: Request): Promise<number> {
  const hash = hashOf(request.headers.get('authorization')?.slice('Bearer '.length) ?? '')
  const known = keys.get(hash)
  if (known && Date.now() - known.at < 1_000) return known.project
  const [row] = await sql`select project from api_keys where hash = ${hash}`
  if (!row) throw new Error('Unknown key')
  keys.set(hash, { project: row.project, at: Date.now() })
  return row.project
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
