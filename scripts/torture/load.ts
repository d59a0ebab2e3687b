import { setTimeout as sleep } from 'node:timers/promises'
import { redactionKinds } from '../../src/redaction/kinds.ts'
import { redact } from '../../src/redaction/redact.ts'
import { finished } from '../../src/threads/time-slices.ts'
import { type Chance, phoneNumberOf } from './chance.ts'
import { type CallState, type ItemState, isSameCall, type Known, type Model, type Turn } from './model.ts'
import { startCommand } from './victim.ts'

const callWorkers = 6
const itemWorkers = 3
const callsOfWorkerMax = 40
const itemsMax = 60
const keysMax = 6
const commandPauseMs = 300
/** What the project redacts: no file may ever hold it. */
export const planted = ['415-555-2671', '4111 1111 1111 1111', 'ada@example.com', '123-45-6789']
const erasurePauseMs = 200
const erasedCallsMax = 8

export interface LoadOptions {
  url: string
  dataDir: string
  project: string
  key: string
  ingestKey: string
  model: Model
  chance: Chance
  /** Called after every acknowledged deletion. */
  onDeleted: () => void
}

interface Answer {
  status: number
  body: Record<string, unknown>
}

/** Clients that concurrently use every operation of the API until they are stopped. */
export class Load {
  readonly #options: LoadOptions
  readonly #workers: Promise<void>[]
  #command: { kill(): void } | null = null
  #isStopped = false

  constructor(options: LoadOptions) {
    this.#options = options
    this.#workers = [
      ...Array.from({ length: callWorkers }, (_, worker) => this.#until(() => this.#useCalls(worker))),
      ...Array.from({ length: itemWorkers }, () => this.#until(() => this.#useItems())),
      this.#until(() => this.#search()),
      this.#until(() => this.#useKeys()),
      this.#until(() => this.#eraseCalls()),
    ]
  }

  /** Call this just before the kill: from then on a missing answer is not a violation. */
  stop(): void {
    this.#isStopped = true
  }

  killCommand(): void {
    this.#command?.kill()
  }

  async ended(): Promise<void> {
    await Promise.all(this.#workers)
  }

  async #until(work: () => Promise<void>): Promise<void> {
    while (!this.#isStopped) {
      await work()
      // Let the other workers run.
      await sleep(1)
    }
  }

  async #useCalls(worker: number): Promise<void> {
    const { model, chance, onDeleted } = this.#options
    const own = [...model.calls.keys()].filter((id) => id.startsWith(`call-${worker}-`))
    const gone = [...model.deletedCalls].filter((id) => id.startsWith(`call-${worker}-`))
    const deleted = chance.happens(0.1) ? chance.oneOf(gone) : undefined
    if (deleted !== undefined) return this.#rewriteDeleted(deleted)
    const isNew = own.length === 0 || (own.length < callsOfWorkerMax && chance.happens(0.3))
    const id = (isNew ? null : chance.oneOf(own)) ?? `call-${worker}-${chance.between(1, 1e12)}`
    const known = model.calls.get(id) ?? { marker: chance.marker(), now: null }
    if (known.maybe) return
    model.calls.set(id, known)
    if (known.now && chance.happens(0.2)) {
      known.maybe = { state: null }
      const answer = await this.#send('DELETE', `/v1/calls/${id}`)
      if (answer?.status !== 200) return this.#unexpected('DELETE call', answer)
      model.count('calls deleted')
      model.callIsGone(id)
      onDeleted()
      return
    }
    await this.#putCall(id, known)
  }

  async #putCall(id: string, known: Known<CallState | null>): Promise<void> {
    const { model, chance } = this.#options
    const { body, state } = changeOf(known, chance)
    known.maybe = { state }
    const answer = await this.#send('PUT', `/ingest/calls/${id}`, body)
    if (answer?.status !== (known.now ? 200 : 201)) return this.#unexpected('PUT call', answer)
    const { duration, summary, transcript } = answer.body
    const shown = { duration, summary, transcript } as CallState
    if (!isSameCall(shown, state)) model.violated(`PUT ${id} answered another state than it was sent`)
    model.count('appendTranscript' in body ? 'transcripts appended' : 'calls written')
    known.now = state
    delete known.maybe
    const changes = model.completedChanges.get(id) ?? 0
    if (changes > 0 || 'status' in body) model.completedChanges.set(id, changes + 1)
  }

  async #rewriteDeleted(id: string): Promise<void> {
    const answer = await this.#send('PUT', `/ingest/calls/${id}`, { summary: 'again' })
    if (answer && ![410, 503].includes(answer.status))
      this.#options.model.violated(`PUT of the deleted ${id} answered ${answer.status}`)
    if (answer?.status === 410) this.#options.model.count('writes to deleted calls refused')
  }

  async #useItems(): Promise<void> {
    const { model, chance } = this.#options
    const free = [...model.items].filter(([, { maybe }]) => !maybe)
    const chosen = chance.oneOf(free)
    if (chosen && (model.items.size >= itemsMax || chance.happens(0.25))) return this.#deleteItem(...chosen)
    if (chosen && chance.happens(0.5)) return this.#changeItem(...chosen)
    const marker = chance.marker()
    const words = chance.happens(0.1) ? chance.between(1_000, 4_000) : chance.between(10, 300)
    const item = { name: `Item ${marker}`, text: chance.text(marker, words) }
    model.unansweredItems.set(item.name, { ...item, marker })
    const answer = await this.#send('POST', '/v1/knowledge', item)
    if (answer?.status !== 201) return this.#unexpected('POST item', answer)
    model.unansweredItems.delete(item.name)
    model.items.set(String(answer.body.id), { marker, now: item })
    model.count('items created')
  }

  async #changeItem(id: string, known: Known<ItemState | null>): Promise<void> {
    const { model, chance, onDeleted } = this.#options
    if (!known.now) return
    const next = chance.happens(0.5) ? replacedItem(chance) : patchedItem(known.marker, known.now, chance)
    known.maybe = { state: next.now, marker: next.marker }
    const method = next.marker === known.marker ? 'PATCH' : 'PUT'
    const { name, text } = next.now
    const answer = await this.#send(
      method,
      `/v1/knowledge/${id}`,
      method === 'PUT' ? { name, text } : { text },
    )
    if (answer?.status !== 200) return this.#unexpected(`${method} item`, answer)
    if (answer.body.text !== text) model.violated(`${method} ${id} answered another text than it was sent`)
    model.count(method === 'PUT' ? 'items replaced' : 'items patched')
    model.itemIs(id, next)
    onDeleted()
  }

  async #deleteItem(id: string, known: Known<unknown>): Promise<void> {
    const { model, onDeleted } = this.#options
    known.maybe = { state: null }
    const answer = await this.#send('DELETE', `/v1/knowledge/${id}`)
    if (answer?.status !== 200) return this.#unexpected('DELETE item', answer)
    model.count('items deleted')
    model.itemIsGone(id)
    onDeleted()
  }

  /** By the number of one call, or by the ids of several. */
  async #eraseCalls(): Promise<void> {
    const { model, chance } = this.#options
    await sleep(erasurePauseMs)
    const free = [...model.calls].filter(([, { now, maybe }]) => now && !maybe)
    const first = chance.between(0, Math.max(0, free.length - erasedCallsMax))
    const byNumber = chance.happens(0.5)
    const chosen = free.slice(first, first + (byNumber ? 1 : chance.between(1, erasedCallsMax)))
    const [one] = chosen
    if (this.#isStopped || !one) return
    for (const [, known] of chosen) known.maybe = { state: null }
    const ids = chosen.map(([id]) => id)
    const body = byNumber ? { number: `+${phoneNumberOf(one[1].marker)}` } : { ids }
    const answer = await this.#send('POST', '/v1/erasures', body)
    if (answer?.status !== 202) return this.#unexpected('POST erasures', answer)
    if (answer.body.calls !== ids.length)
      model.violated(`the erasure of ${ids.length} calls accepted ${answer.body.calls}`)
    model.erasures.set(String(answer.body.id), ids)
    model.count('erasures accepted')
    await this.#untilErased(String(answer.body.id), ids)
  }

  /** What is still open when the service is killed has to be done after the next start. */
  async #untilErased(erasure: string, ids: readonly string[]): Promise<void> {
    const { model, onDeleted } = this.#options
    onDeleted()
    while (!this.#isStopped) {
      const answer = await this.#send('GET', `/v1/erasures/${erasure}`)
      if (answer?.status === 200 && answer.body.status === 'done') {
        for (const id of ids) model.callIsGone(id)
        return model.count('erasures done')
      }
      if (answer?.status !== 200) return this.#unexpected('GET erasure', answer)
      await sleep(erasurePauseMs)
    }
  }

  async #search(): Promise<void> {
    const { model, chance } = this.#options
    const gone = new Set(model.deletedItems)
    const marker = chance.oneOf([...model.items.values()])?.marker ?? 'nothing'
    const query = `refund window order${chance.between(1, 400)} ${marker}`
    const answer = await this.#send('POST', '/v1/knowledge/search', { query, limit: 20, timeoutMs: 1_000 })
    if (answer?.status !== 200) return this.#unexpected('search', answer)
    const hits = answer.body.data as { itemId: string }[]
    for (const { itemId } of hits)
      if (gone.has(itemId)) model.violated(`search found ${itemId}, which was deleted before the search`)
    model.count('searches')
  }

  async #useKeys(): Promise<void> {
    const { model, chance, project } = this.#options
    await sleep(commandPauseMs)
    if (this.#isStopped) return
    const open = [...model.keys].filter(([, { now, maybe }]) => now && !maybe)
    const chosen = chance.oneOf(open)
    if (chosen && (open.length >= keysMax || chance.happens(0.4))) return this.#revoke(...chosen)
    const made = await this.#run(['key', 'create', '--project', project, '--name', 'torture', '--json'])
    if (made === null) return
    const { id, key } = JSON.parse(made)
    model.keys.set(key, { id, marker: '', now: true })
    model.count('keys created')
  }

  async #revoke(key: string, known: Known<boolean> & { id: string }): Promise<void> {
    const { model, url } = this.#options
    known.maybe = { state: false }
    if ((await this.#run(['key', 'revoke', known.id, '--json'])) === null) return
    known.now = false
    delete known.maybe
    model.count('keys revoked')
    const answer = await fetch(`${url}/v1/calls?limit=0`, {
      headers: { authorization: `Bearer ${key}` },
    }).catch(() => null)
    if (answer && answer.status !== 401) model.violated(`a revoked key was answered ${answer.status}`)
  }

  /** What the command printed; null when it failed. */
  async #run(args: string[]): Promise<string | null> {
    const command = startCommand(this.#options.dataDir, args)
    this.#command = command
    const { code, out, err } = await command.done
    this.#command = null
    if (code === 0) return out
    if (code !== null)
      this.#options.model.violated(`${args.slice(0, 2).join(' ')} ended with ${code}: ${err}`)
    return null
  }

  /** Null when there was no answer. */
  async #send(method: string, path: string, body?: unknown): Promise<Answer | null> {
    const { url, key, ingestKey } = this.#options
    const headers = {
      authorization: `Bearer ${path.startsWith('/ingest') ? ingestKey : key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    try {
      const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    } catch (error) {
      if (!this.#isStopped)
        this.#options.model.violated(`${method} ${path} was not answered: ${String(error)}`)
      return null
    }
  }

  /** 503 is allowed; whether the write happened is checked after the next start. */
  #unexpected(what: string, answer: Answer | null): void {
    if (!answer) return
    if (answer.status === 503) this.#options.model.count('503')
    else this.#options.model.violated(`${what} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  }
}

function replacedItem(chance: Chance): Known<ItemState> {
  const marker = chance.marker()
  return { marker, now: { name: `Item ${marker}`, text: chance.text(marker, chance.between(10, 1_000)) } }
}

/** The same item with another last section. */
function patchedItem(marker: string, { name, text }: ItemState, chance: Chance): Known<ItemState> {
  const tail = chance.marker()
  const [head = ''] = text.split('\n\n## Tail ', 1)
  const last = `\n\n## Tail ${tail}\n\n${chance.text(tail, chance.between(40, 85))}`
  return { marker, now: { name, text: head + last, tail } }
}

function changeOf({ marker, now }: Known<CallState | null>, chance: Chance) {
  const turns = Array.from(
    { length: chance.between(1, 4) },
    (_, at): Turn => ({
      role: at % 2 ? 'assistant' : 'user',
      content: `turn ${chance.between(1, 1e9)} ${marker}: ${chance.happens(0.3) ? chance.oneOf(planted) : 'nothing'}`,
    }),
  )
  const redactedTurns = turns.map(({ role, content }): Turn => ({ role, content: redacted(content) }))
  if (now && chance.happens(0.5)) {
    const at = now.transcript.length
    return {
      body: { appendTranscript: { at, turns } },
      state: { ...now, transcript: [...now.transcript, ...redactedTurns] },
    }
  }
  const duration = chance.between(1, 100_000) / 8
  const summary = chance.text(marker, chance.between(5, 400))
  const metadata = { marker, n: duration, planted }
  const details = { agent: { id: marker }, timeline: [{ atSeconds: duration, kind: 'other', text: marker }] }
  return {
    body: {
      ...(chance.happens(0.2) ? { status: 'completed' } : {}),
      duration,
      summary,
      transcript: turns,
      callerNumber: `+${phoneNumberOf(marker)}`,
      metadata,
      details,
      callAnalysis: { marker, deep: [duration, { marker }] },
    },
    state: { duration, summary: redacted(summary), transcript: redactedTurns },
  }
}

function redacted(text: string): string {
  return finished(redact(text, { kinds: redactionKinds, country: 'US' })).text
}
