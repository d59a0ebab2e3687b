import { type Static, type TInteger, Type } from '@sinclair/typebox'
import { named } from '../../validation.ts'

const time = Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' })
const nullableTime = (description: string) =>
  Type.Unsafe<string | null>({ ...time, nullable: true, description })
/** Numbers of calls, by what they are. */
const countsOf = (about: Record<string, string>): Record<string, TInteger> =>
  Object.fromEntries(
    Object.entries(about).map(([name, description]) => [
      name,
      Type.Integer({ minimum: 0, description, example: 0 }),
    ]),
  )

export const ImportRequest = named('HistoryImportRequest', {
  since: Type.String({
    maxLength: 40,
    description: 'Calls that began since then: days before now, or an ISO time.',
    example: '90d',
  }),
  until: Type.Optional(Type.String({ maxLength: 40, description: 'An ISO time (default: now).' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1e9, description: 'How many calls to write, the oldest first.' }),
  ),
  rate: Type.Optional(
    Type.Number({ minimum: 1, maximum: 50, description: 'Requests a second (default: 5).' }),
  ),
  recordings: Type.Optional(Type.Boolean({ description: 'Only in a project that keeps recordings.' })),
  dryRun: Type.Optional(Type.Boolean({ description: 'Only asks what there is.', example: true })),
})
export type ImportRequest = Static<typeof ImportRequest>

const states = ['running', 'waiting', 'done', 'stopped', 'failed'] as const

export const HistoryImport = named('HistoryImport', {
  id: Type.String({ example: 'imp_019a5f0c2b7e7cc0a1d2e3f405162738' }),
  state: Type.Unsafe<(typeof states)[number]>({ type: 'string', enum: [...states] }),
  reason: Type.Unsafe<string | null>({
    type: 'string',
    nullable: true,
    description: 'Why it waits or has failed.',
  }),
  since: time,
  until: time,
  at: nullableTime('How far it came.'),
  ...countsOf({
    found: 'All that are counted below.',
    created: 'New calls.',
    changed: 'Calls that were here, and of which more is known now.',
    unchanged: 'Calls that were here as they are there.',
    live: 'Calls that go on.',
    erased: 'Calls that were deleted here, and stay so.',
    failed: 'Calls that cannot be read.',
  }),
  skipped: named(
    'SkippedHistory',
    countsOf({
      notVoice: 'Chats.',
      test: 'Tests.',
      deletedThere: 'Calls that the platform has deleted.',
      unmatched: 'What is no call.',
    }),
  ),
  samples: Type.Array(
    named('HistoryFault', {
      field: Type.String({ example: 'message.call.id' }),
      message: Type.String({ example: 'is required' }),
      ...countsOf({ count: 'How many calls have it.' }),
    }),
    { description: 'Why calls cannot be read, at most 20 reasons.' },
  ),
  recordings: named(
    'HistoryRecordings',
    countsOf({ queued: 'To fetch.', kept: 'Those here.', failed: 'Those that cannot be fetched.' }),
  ),
})

export const HistoryPreview = named('HistoryPreview', {
  ok: Type.Boolean({ description: 'Whether the platform answers.', example: true }),
  reason: Type.Optional(Type.String({ description: 'Why it does not.' })),
  reachable: Type.Optional(nullableTime('When the oldest call seen began.')),
  total: Type.Optional(
    Type.Unsafe<number | null>({ type: 'integer', nullable: true, description: 'If it says so.' }),
  ),
  perCall: Type.Optional(Type.Integer({ description: 'Requests for each call, beside the list.' })),
  seen: Type.Optional(Type.Integer({ description: 'Calls of the first page.' })),
  recordings: Type.Optional(
    Type.Unsafe<number | null>({
      type: 'integer',
      nullable: true,
      description: 'How many of them have one; null where the list does not say.',
    }),
  ),
  goneAt: Type.Optional(
    nullableTime('When the recording of one of them is deleted there, if the platform says so.'),
  ),
})
