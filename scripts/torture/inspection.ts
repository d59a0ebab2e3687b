import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type Database from 'libsql'
import type { ByteSearch, ByteSearchResult } from './byte-search.ts'
import { phoneNumberOf } from './chance.ts'
import { count, reading, untilNone } from './database.ts'
import { planted } from './load.ts'
import { type CallState, type ItemState, isSameCall, type Known, type Model } from './model.ts'
import { countWrongRows } from './rows.ts'
import { vectorBytes, vectorsOf } from './vectors.ts'
import { startCommand } from './victim.ts'

const settleWithinMs = 30_000

interface InspectionOptions {
  url: string
  dataDir: string
  key: string
  ingestKey: string
  model: Model
}

/** Compares what the service answers and stores after a start with what it acknowledged before. */
export async function inspect(options: InspectionOptions): Promise<{ bytes: number }> {
  const { model, url } = options
  await inspectErasures(options)
  await inspectCalls(options)
  await inspectItems(options)
  for (const [key, known] of model.keys) {
    const { status } = await fetch(`${url}/v1/calls?limit=0`, { headers: { authorization: `Bearer ${key}` } })
    const opens = status === 200
    if (opens !== known.now && opens !== known.maybe?.state)
      model.violated(`key ${known.id} answered ${status}`)
    known.now = opens
    delete known.maybe
  }
  const [bytes] = await Promise.all([inspectBytes(options), inspectIndex(options)])
  await inspectVectors(options)
  await reading(options.dataDir, (database) => inspectRows(database, model))
  return { bytes }
}

/** Each request that was accepted, and each whose answer was lost, comes to its end after a kill. */
async function inspectErasures({ url, dataDir, key, model }: InspectionOptions): Promise<void> {
  const open = await untilNone(dataDir, 'erasure_requests where not is_done', settleWithinMs)
  if (open > 0) model.violated('an erasure request is not done')
  for (const [erasure, ids] of model.erasures) {
    const answer = await fetch(`${url}/v1/erasures/${erasure}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const receipt = (await answer.json()) as { status?: string; deleted?: number }
    if (receipt.status !== 'done' || receipt.deleted !== ids.length)
      model.violated(`the erasure of ${ids.length} calls says ${JSON.stringify(receipt)}`)
    for (const id of ids) if (model.calls.has(id)) model.callIsGone(id)
  }
}

async function inspectCalls({ url, key, ingestKey, model }: InspectionOptions): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/v1/calls?limit=1000`, { headers })
  const page = (await answer.json()) as {
    data: ({ id: string } & CallState)[]
    pagination: { total: number }
  }
  const found = new Map(
    page.data.map(({ id, duration, summary, transcript }) => [id, { duration, summary, transcript }]),
  )
  if (page.pagination.total !== found.size)
    model.violated(`total ${page.pagination.total} of ${found.size} calls`)
  for (const [id, known] of [...model.calls]) {
    const state = found.get(id) ?? null
    const isExpected =
      isSameCall(state, known.now) || (known.maybe !== undefined && isSameCall(state, known.maybe.state))
    if (!isExpected) model.violated(`${id} is neither as acknowledged nor as last sent`)
    found.delete(id)
    const wasThere = known.now !== null
    known.now = state
    delete known.maybe
    if (state === null && wasThere) model.callIsGone(id)
    else if (state === null) model.calls.delete(id)
  }
  for (const id of found.keys()) model.violated(`${id} is there and was never written, or was deleted`)
  const sample = [...model.deletedCalls].slice(-5)
  for (const id of sample) {
    const read = await fetch(`${url}/v1/calls/${id}`, { headers })
    const written = await fetch(`${url}/ingest/calls/${id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ingestKey}`, 'content-type': 'application/json' },
      body: '{}',
    })
    if (read.status !== 404 || written.status !== 410)
      model.violated(`the deleted ${id} answers ${read.status} and ${written.status}`)
  }
}

async function inspectItems({ url, key, model }: InspectionOptions): Promise<void> {
  const answer = await fetch(`${url}/v1/knowledge`, { headers: { authorization: `Bearer ${key}` } })
  const items = (await answer.json()) as { id: string; name: string; text: string }[]
  const found = new Map(items.map((item) => [item.id, item]))
  for (const [id, known] of [...model.items]) {
    const item = found.get(id)
    found.delete(id)
    if (!item) {
      if (!known.maybe) model.violated(`the item ${id} is gone and was not deleted`)
      model.itemIsGone(id)
    } else inspectItem(id, item, known, model)
    delete known.maybe
  }
  for (const [id, { name, text }] of found) {
    const sent = model.unansweredItems.get(name)
    if (sent?.text === text) model.items.set(id, { marker: sent.marker, now: sent })
    else
      model.violated(`the item ${id} (${name}) is there and is deleted, never sent, twice there or not whole`)
    model.unansweredItems.delete(name)
  }
  model.itemsNeverCame()
}

/** An item is as it was acknowledged, or as the request without an answer would have made it. */
function inspectItem(id: string, item: ItemState, known: Known<ItemState | null>, model: Model): void {
  const { maybe, marker, now } = known
  const sent = maybe?.state ? { marker: maybe.marker ?? marker, now: maybe.state } : null
  if (now && item.text === now.text && item.name === now.name) {
    if (sent) model.changeNeverCame(sent, { marker, now })
  } else if (sent && item.text === sent.now.text && item.name === sent.now.name) model.itemIs(id, sent)
  else model.violated(`the item ${id} is neither as acknowledged nor as last sent`)
}

/** Checks that every chunk is embedded, and that the index files are sound and hold no vector of a deleted chunk. */
async function inspectIndex({ dataDir, model }: InspectionOptions): Promise<void> {
  const pending = await untilNone(dataDir, 'chunks where embedding_space is null', settleWithinMs)
  if (pending > 0) model.violated(`${pending} chunks are pending`)
  const { code, out, err } = await startCommand(dataDir, ['index', 'verify', '--json']).done
  if (code !== 0) model.violated(`index verify ended with ${code}: ${out} ${err}`)
}

/** Checks that rows that belong together are complete and that the file is not damaged. */
function inspectRows(database: Database.Database, model: Model): void {
  const checks: Record<string, number> = {
    ...countWrongRows(database),
    'erasures still open': count(database, 'erasures where done_at is null'),
    'slices of erasures that are done': count(database, 'erasure_slices'),
  }
  for (const [what, n] of Object.entries(checks)) if (n !== 0) model.violated(`${n} ${what}`)
  const state = database.prepare('pragma integrity_check(3)').pluck().all()
  if (state.join() !== 'ok') model.violated(`integrity_check: ${state.join('; ')}`)
}

/** Searches every byte of every file for words, phone numbers and vectors of deleted records. */
async function inspectBytes({ dataDir, model }: InspectionOptions): Promise<number> {
  const vectorFile = `${dataDir}.dead-vectors`
  for (const { was, is } of model.deadItems) {
    const kept = is ? await vectorsOf(is) : []
    const gone = (await vectorsOf(was)).filter((vector) => !kept.some((other) => other.equals(vector)))
    appendFileSync(vectorFile, Buffer.concat(gone))
  }
  model.deadItems = []
  await dropLive(vectorFile, dataDir)
  const words = [...planted, ...[...model.deadMarkers].flatMap((marker) => [marker, phoneNumberOf(marker)])]
  const search: ByteSearch = { folder: dataDir, words, vectorFile }
  const script = fileURLToPath(new URL('byte-search.ts', import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(search))
  const { bytes, found } = (await json(child.stdout)) as ByteSearchResult
  for (const { file, what } of found) model.violated(`${file} holds ${what}, which was deleted or redacted`)
  model.vectorsSought = Math.floor(statSync(vectorFile).size / vectorBytes)
  return bytes
}

/** Drops vectors that a passage has again, as after a text was changed and changed back. */
async function dropLive(vectorFile: string, dataDir: string): Promise<void> {
  const stored = 'select hex(embedding) from chunks where embedding is not null'
  const live = new Set(await reading(dataDir, (database) => database.prepare(stored).pluck().all()))
  appendFileSync(vectorFile, '')
  const dead = readFileSync(vectorFile)
  const kept: Buffer[] = []
  for (let at = 0; at < dead.length; at += vectorBytes) {
    const vector = dead.subarray(at, at + vectorBytes)
    if (!live.has(vector.toString('hex').toUpperCase())) kept.push(vector)
  }
  writeFileSync(vectorFile, Buffer.concat(kept))
}

/** Checks that the search looks for the right vectors: for an existing item it computes those that are stored. */
async function inspectVectors({ dataDir, model }: InspectionOptions): Promise<void> {
  const [id, known] = [...model.items].at(-1) ?? []
  if (!id || !known?.now) return
  const made = await vectorsOf(known.now)
  const query =
    'select embedding from chunks where item_seq = (select seq from knowledge_items where id = ?) order by position'
  const stored = await reading(dataDir, (database) =>
    (database.prepare(query).pluck().all(id) as ArrayBuffer[]).map((bytes) => Buffer.from(bytes)),
  )
  const isSame = stored.length === made.length && stored.every((bytes, at) => made[at]?.equals(bytes))
  if (!isSame) model.violated(`the vectors of the item ${id} differ from those that the search looks for`)
}
