import { type Static, Type } from '@sinclair/typebox'
import { type KeyScope, keyScopes } from '../../identity.ts'
import { named } from '../../validation.ts'

/** An API key as its holder sees it. */
export const OwnKey = named('Key', {
  id: Type.String({ example: 'key_019a5f0c2b7e7cc0a1d2e3f405162738' }),
  name: Type.String({ description: 'What the key is for.', example: 'Production agents' }),
  project: Type.String({ description: "The project's name.", example: 'default' }),
  kind: Type.Unsafe<'live' | 'ingest'>({ type: 'string', enum: ['live'] }),
  scope: Type.Unsafe<KeyScope | null>({
    type: 'string',
    enum: keyScopes,
    description:
      '`full` allows everything under `/v1` but sources and webhooks, which `manage` also allows; `read` allows `GET`, `HEAD`, ' +
      'search, preview and the agent protocols; `knowledge` allows knowledge, golden questions, search and the agent protocols, ' +
      'and sees no call; `search` allows search and the agent protocols alone.',
  }),
  tags: Type.Array(Type.String({ example: 'billing' }), {
    description: 'It searches only items with one of these tags; all items if there are none.',
  }),
  expiresAt: Type.Unsafe<string | null>({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'null when it does not expire.',
    example: '2027-01-31T09:30:00.000Z',
  }),
})
export type OwnKey = Static<typeof OwnKey>
