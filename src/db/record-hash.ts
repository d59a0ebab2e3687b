import { createHmac } from 'node:crypto'

export type RecordKind = 'call' | 'item' | 'project' | 'idempotency_key' | 'body'

/**
 * The keyed hash under which a deleted record, or a request's key and body, is remembered: HMAC-SHA-256 under a key of this database, so
 * that the ledger tells nothing to who does not hold both the key and the id.
 */
export type RecordHash = (projectId: number, kind: RecordKind, id: string) => string

export function createRecordHash(key: string): RecordHash {
  return (projectId, kind, id) =>
    createHmac('sha256', key).update(`${projectId}\n${kind}\n${id}`).digest('hex')
}
