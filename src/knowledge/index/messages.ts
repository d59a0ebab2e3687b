import type { ReadLocation } from '../../db/location.ts'
import type { IndexReport, IndexState, VectorHit, VectorIndex } from './vector-index.ts'

export type LogLevel = 'info' | 'warn' | 'error'
export type LogFields = Record<string, string | number>

export interface IndexWorkerData {
  readsAt: ReadLocation
  folder: string
  space: string
  savesFiles: boolean
  exact: boolean
}

type Method = keyof VectorIndex

/** A method of VectorIndex and its arguments. */
export interface IndexRequest {
  id: number
  method: Method
  args: Parameters<VectorIndex[Method]>
}

export type IndexValue = IndexState | IndexState[] | IndexReport | VectorHit[] | undefined

export type IndexReply =
  | { kind: 'value'; id: number; value: IndexValue }
  | { kind: 'error'; id: number; message: string }
  | { kind: 'log'; level: LogLevel; message: string; fields: LogFields }
