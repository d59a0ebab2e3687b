import { createHmac } from 'node:crypto'

type RecordKind =
  | 'call'
  | 'item'
  | 'recording'
  | 'source'
  | 'webhook'
  | 'questions'
  | 'cases'
  | 'wording'
  | 'sessions'
  | 'project'
  | 'idempotency_key'
  | 'body'
  | 'cursor'

/**
 * The keyed hash that stands for a deleted record, or for a request's key and body: HMAC-SHA-256 under a key of this
 * database, so that it reveals nothing without the key and the id.
 */
export type RecordHash = (projectId: number, kind: RecordKind, id: string) => string

export function createRecordHash(key: string): RecordHash {
  return (projectId, kind, id) =>
    createHmac('sha256', key).update(`${projectId}\n${kind}\n${id}`).digest('hex')
}
