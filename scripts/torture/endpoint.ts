import type { IncomingMessage, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { startEndpoint } from '../endpoint.ts'
import type { Chance } from './chance.ts'
import { untilNone } from './database.ts'
import { type CallState, isSameCall, type Model } from './model.ts'

const sentWithinMs = 60_000
const failureShare = 0.005

interface Event {
  type: string
  data: { seq: number; ref: string; id?: string; call?: CallState & { id: string }; item?: { text: string } }
}

/** The events that arrived for one record. */
interface Arrived {
  /** The highest number so far. */
  seq: number
  /** The last event that was accepted. */
  last: Event | null
  /** Accepted events by their `webhook-id`. */
  accepted: Map<string, Event>
}

/** An endpoint for webhooks that outlives the service, fails now and then, and knows what must have arrived. */
export class WebhookEndpoint {
  /** How many events have arrived, and how many of them again. */
  readonly counts = { events: 0, repeated: 0 }
  readonly #model: Model
  readonly #chance: Chance
  readonly #refs = new Map<string, string>()
  readonly #arrived = new Map<string, Arrived>()
  readonly #refusedIds = new Set<string>()
  #secret: Webhook | null = null
  #stop = () => {}

  constructor(model: Model, chance: Chance) {
    this.#model = model
    this.#chance = chance
  }

  async listen(): Promise<string> {
    const { url, close } = await startEndpoint((...received) => this.#receive(...received))
    this.#stop = close
    return url
  }

  /** Every event that arrives must be signed by it. */
  signedBy(secret: string): void {
    this.#secret = new Webhook(secret)
  }

  close(): void {
    this.#stop()
  }

  /** Checks that the state of each record, and each change of a completed call, has arrived. */
  async inspect(dataDir: string): Promise<void> {
    if ((await untilNone(dataDir, 'webhook_queue where not is_sent', sentWithinMs)) > 0)
      return this.#model.violated('webhooks were not sent in time')
    const { calls, items, deletedCalls, deletedItems, completedChanges, erasures } = this.#model
    for (const erasure of erasures.keys())
      if (this.#arrived.get(erasure)?.last?.type !== 'erasure.done')
        this.#model.violated(`no webhook told that ${erasure} is done`)
    for (const [id, { now }] of calls) {
      const arrived = this.#of(id)
      const { duration, summary, transcript } = arrived?.last?.data.call ?? {}
      if (now && !isSameCall({ duration, summary, transcript } as CallState, now))
        this.#model.violated(`the last webhook of ${id} is not its state`)
      this.#inspectChanges(id, arrived, completedChanges.get(id) ?? 0)
    }
    for (const [id, { now }] of items)
      if (now && this.#of(id)?.last?.data.item?.text !== now.text)
        this.#model.violated(`the last webhook of the item ${id} is not its state`)
    for (const id of [...deletedCalls, ...deletedItems]) {
      const last = this.#of(id)?.last
      if (last && !last.type.endsWith('.deleted'))
        this.#model.violated(`no webhook told that ${id} was deleted`)
    }
  }

  /** Changes of a live call may share an event; each change of a completed call has its own. */
  #inspectChanges(id: string, arrived: Arrived | undefined, acknowledged: number): void {
    if (acknowledged === 0) return
    const events = [...(arrived?.accepted.values() ?? [])]
    const completed = events.find(({ type }) => type === 'call.completed')
    const changes = events.filter(
      ({ type, data }) => type === 'call.changed' && data.seq > (completed?.data.seq ?? 0),
    )
    if (!completed || changes.length < acknowledged - 1)
      this.#model.violated(
        `of ${acknowledged} changes of the completed ${id}, ${changes.length} have arrived`,
      )
  }

  #of(id: string): Arrived | undefined {
    return this.#arrived.get(this.#refs.get(id) ?? '')
  }

  #receive(body: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const id = String(headers['webhook-id'])
    let event: Event
    try {
      event = JSON.parse(body)
      this.#secret?.verify(body, headers as Record<string, string>)
    } catch (error) {
      this.#model.violated(`a webhook is not signed or not whole: ${String(error)}`)
      response.writeHead(204).end()
      return
    }
    const { data } = event
    const arrived = this.#arrived.get(data.ref) ?? { seq: 0, last: null, accepted: new Map() }
    this.#arrived.set(data.ref, arrived)
    if (data.id) this.#refs.set(data.id, data.ref)
    if (data.seq < arrived.seq)
      this.#model.violated(`${event.type} ${data.seq} of ${data.id ?? data.ref} came after ${arrived.seq}`)
    arrived.seq = Math.max(arrived.seq, data.seq)
    this.counts.events++
    if (arrived.accepted.has(id)) this.counts.repeated++
    const isRefused = !this.#refusedIds.has(id) && this.#chance.happens(failureShare)
    if (isRefused) {
      this.#refusedIds.add(id)
      if (this.#chance.happens(0.5)) response.writeHead(500).end()
      else response.destroy()
      return
    }
    arrived.accepted.set(id, event)
    arrived.last = event
    response.writeHead(204).end()
  }
}
