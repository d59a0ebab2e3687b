import { type Static, Type } from '@sinclair/typebox'
import { notBlank } from '../knowledge/schemas.ts'
import { named } from '../validation.ts'

// Every schema here follows https://docs.dify.ai/en/self-host/use-dify/knowledge/external-knowledge-api

export const DifyRequest = named('DifyRequest', {
  knowledge_id: Type.String({
    description:
      "The id or the name of the key's project, the id of one of its items, or `tags:billing,eu` for items with one of " +
      'these tags. A `metadata_condition` is refused.',
    example: 'default',
  }),
  // Dify sends a user's whole message, however long.
  query: Type.String({
    ...notBlank,
    description: 'Of a longer text, only the last 2,000 characters are used.',
    example: 'How long do refunds take?',
  }),
  // Dify writes null for members that are not set, here and below.
  retrieval_setting: named(
    'DifyRetrievalSetting',
    {
      top_k: Type.Optional(
        Type.Unsafe<number | null>({
          type: 'integer',
          nullable: true,
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Above 50 counts as 50.',
        }),
      ),
      score_threshold: Type.Optional(
        Type.Unsafe<number | null>({ type: 'number', nullable: true, minimum: 0, maximum: 1 }),
      ),
    },
    { example: { top_k: 3, score_threshold: 0.5 } },
  ),
  // Only null is taken: see dify-routes.ts.
  metadata_condition: Type.Optional(Type.Unknown({ 'x-documented': false })),
})
export type DifyRequest = Static<typeof DifyRequest>

const DifyRecord = named('DifyRecord', {
  content: Type.String({ example: 'Returns › Refunds\nWe refund any order within 30 days.' }),
  score: Type.Number({ description: 'How much of the question the passage covers, 0 to 1.', example: 1 }),
  title: Type.String({ description: "The item's name.", example: 'Returns' }),
  metadata: named(
    'DifyMetadata',
    {
      document_id: Type.String({ description: "The item's id." }),
      heading: Type.String({ description: 'Empty where there is none.' }),
      position: Type.Integer(),
    },
    { example: { document_id: 'kn_019a5f0c2b7e7cc0a1d2e3f405162738', heading: 'Refunds', position: 0 } },
  ),
})

export const DifyAnswer = named('DifyAnswer', { records: Type.Array(DifyRecord) })
export type DifyAnswer = Static<typeof DifyAnswer>

export const DifyError = named('DifyError', {
  error_code: Type.Integer({
    description: '1001, 1002 and 2001 as Dify specifies; otherwise the HTTP status.',
    example: 1002,
  }),
  error_msg: Type.String({
    example: 'Invalid API key: The key is unknown or has been revoked.',
  }),
})
export type DifyError = Static<typeof DifyError>
