import { type Static, Type } from '@sinclair/typebox'
import { notBlank, plainMembers } from '../knowledge/schemas.ts'
import { named } from '../validation.ts'
import {
  checkableConditions,
  comparisonOperators,
  conditionNames,
  type MetadataCondition,
} from './dify-conditions.ts'

// Every schema here follows https://docs.dify.ai/en/self-host/use-dify/knowledge/external-knowledge-api

const Condition = named(
  'DifyCondition',
  {
    name: Type.Unsafe<string>({ type: 'string', enum: conditionNames }),
    comparison_operator: Type.Unsafe<string>({ type: 'string', enum: comparisonOperators }),
    value: Type.Optional(
      Type.Unknown({
        description: 'A text, a number, a list of texts, or for times a date or seconds since 1970.',
      }),
    ),
  },
  { 'x-documented': { ...plainMembers, not: { not: { anyOf: checkableConditions } } } },
)

// Dify writes null for members that are not set, here and below.
const NullableCondition = Type.Unsafe<MetadataCondition | null>({
  title: 'DifyConditions',
  type: 'object',
  nullable: true,
  description: 'Only passages of matching items.',
  properties: {
    logical_operator: { type: 'string', nullable: true, enum: ['and', 'or', null] },
    conditions: { type: 'array', nullable: true, maxItems: 100, items: Condition },
  },
})

export const DifyRequest = named('DifyRequest', {
  knowledge_id: Type.String({
    description: "The id or the name of the key's project, or the id of one of its items.",
    example: 'default',
  }),
  // Dify sends a user's whole message, however long.
  query: Type.String({
    ...notBlank,
    description: 'Of a longer text, only the last 2,000 characters are used.',
    example: 'How long do refunds take?',
  }),
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
  metadata_condition: Type.Optional(NullableCondition),
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
