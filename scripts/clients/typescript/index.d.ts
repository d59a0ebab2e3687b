import type { Client, ClientOptions } from 'openapi-fetch'
import type { components, paths } from './callbook.d.ts'

export type { components, operations, paths } from './callbook.d.ts'

export type Call = components['schemas']['Call']
export type CallDetails = components['schemas']['CallDetails']
export type CallUpdate = components['schemas']['CallUpdate']
export type KnowledgeItem = components['schemas']['KnowledgeItem']
export type Problem = components['schemas']['Problem']
export type SearchHit = components['schemas']['SearchHit']
export type Turn = components['schemas']['Turn']

export interface CallbookOptions extends Omit<ClientOptions, 'headers'> {
  /** Where the service is; `http://127.0.0.1:3000` unless given. */
  baseUrl?: string
  /** An API key (`ck_live_…`), or an ingest key (`ck_ingest_…`) for the paths under `/ingest`. */
  key: string
  headers?: Record<string, string>
}

/** A client whose requests and answers are typed by path: `callbook.GET('/v1/calls/{id}', { params: { path: { id } } })`. */
export declare function createCallbook(
  options: CallbookOptions,
): Client<paths, 'application/json' | 'application/problem+json'>
