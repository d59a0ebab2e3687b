import { createHash } from 'node:crypto'
import type { Calls } from '../calls/calls.ts'
import type { Core } from '../core/core.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import { bodyFor } from './alert-bodies.ts'
import type { WebhookEvent } from './events.ts'
import type { Endpoint, QueuedEvent, WebhookQueue } from './queue.ts'

const idChars = 32

interface MessagesParts {
  queue: Pick<WebhookQueue, 'deletedRef' | 'isPending'>
  calls: Pick<Calls, 'documents'>
  knowledge: Pick<Knowledge, 'documents'>
}

/** A message as it is sent. */
export interface Message {
  /** The `webhook-id`. It stays the same in each attempt until the row gets a newer change. */
  id: string
  /** The record's keyed hash: messages of one record are sent in order. */
  ref: string
  body: string
}

/** Builds messages from queued events and the records as they are stored now. */
export class Messages {
  readonly #parts: Core & MessagesParts

  constructor(core: Core, parts: MessagesParts) {
    this.#parts = { ...core, ...parts }
  }

  /** Null when there is nothing to send: the item is no longer ready, or its project was deleted. */
  async of(
    endpoint: Pick<Endpoint, 'projectId' | 'isDetailed' | 'kind' | 'secret'>,
    row: QueuedEvent,
  ): Promise<Message | null> {
    const { projectId, isDetailed } = endpoint
    const { kind, record, recordId, erasedCalls } = row
    if (kind === 'alert') {
      const message = this.#message(row, row.ref ?? '', {}, `,"alert":${row.alert}`)
      return { ...message, body: bodyFor(endpoint, row.alert ?? '') ?? message.body }
    }
    if (kind === 'erasure' || record === null)
      return this.#message(row, row.ref ?? '', { erasure: { id: row.ref, calls: erasedCalls } })
    if (recordId === null || row.ref !== null) return await this.#deletion(row)
    const { queue, recordHash, calls, knowledge } = this.#parts
    if (row.event === 'knowledge.ready' && (await queue.isPending(record))) return null
    const records = kind === 'call' ? calls : knowledge
    const documents = await records.documents(projectId, [record], isDetailed)
    const document = documents.get(record)
    if (document === undefined) return await this.#deletion(row)
    return this.#message(
      row,
      recordHash(projectId, kind, recordId),
      { id: recordId },
      `,"${kind}":${document}`,
    )
  }

  async #deletion(row: QueuedEvent): Promise<Message | null> {
    const ref = row.ref ?? (await this.#parts.queue.deletedRef(row))
    const event = row.kind === 'call' ? 'call.deleted' : 'knowledge.deleted'
    return ref === null ? null : this.#message({ ...row, event }, ref, {})
  }

  /** @param document one more member of `data`, as JSON text with a leading comma, or nothing */
  #message(row: QueuedEvent & { event: WebhookEvent }, ref: string, members: object, document = ''): Message {
    const { id, event, seq, at } = row
    const data = JSON.stringify({ seq, ref, ...members }).slice(0, -1)
    const name = `${this.#parts.generation}\n${id}\n${seq}`
    return {
      id: `msg_${createHash('sha256').update(name).digest('hex').slice(0, idChars)}`,
      ref,
      body: `{"type":"${event}","timestamp":"${new Date(at).toISOString()}","data":${data}${document}}}`,
    }
  }
}
