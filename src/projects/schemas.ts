import { type Static, Type } from '@sinclair/typebox'
import type { ProjectSettings } from '../db/project-settings.ts'
import { redactionKinds } from '../redaction/kinds.ts'
import { timeSpanPattern } from '../text/time-span.ts'
import { named } from '../validation.ts'

/** A hundred years. */
const retainDaysMax = 36_500

const RedactKind = Type.Unsafe<(typeof redactionKinds)[number]>({ type: 'string', enum: [...redactionKinds] })

/** The settings to change; those that are absent stay. See the columns of `projects` in schema.ts. */
export const SettingsChange = named('SettingsChange', {
  retainDays: Type.Optional(
    Type.Unsafe<number | null>({ type: 'integer', nullable: true, minimum: 1, maximum: retainDaysMax }),
  ),
  redact: Type.Optional(Type.Array(RedactKind, { maxItems: redactionKinds.length })),
  country: Type.Optional(Type.Unsafe<string | null>({ type: 'string', nullable: true, maxLength: 2 })),
  keepNumbers: Type.Optional(
    Type.Unsafe<ProjectSettings['keepNumbers']>({ type: 'string', enum: ['all', 'last4', 'none'] }),
  ),
  keepQuestionsDays: Type.Optional(
    Type.Unsafe<7 | 30 | null>({ type: 'integer', nullable: true, enum: [7, 30, null] }),
  ),
  gapCoverage: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  notesReading: Type.Optional(Type.Boolean()),
  membersMayDelete: Type.Optional(Type.Boolean()),
  timeZone: Type.Optional(Type.Unsafe<string | null>({ type: 'string', nullable: true, maxLength: 60 })),
  recordings: Type.Optional(
    Type.Unsafe<ProjectSettings['recordings']>({ type: 'string', enum: ['off', 'keep', 'mute'] }),
  ),
  recordingRetainDays: Type.Optional(
    Type.Unsafe<number | null>({ type: 'integer', nullable: true, minimum: 1, maximum: retainDaysMax }),
  ),
  callerChannel: Type.Optional(
    Type.Unsafe<ProjectSettings['callerChannel']>({ type: 'integer', nullable: true, enum: [0, 1, null] }),
  ),
  prices: Type.Optional(
    Type.Unsafe<ProjectSettings['prices']>({ type: 'array', nullable: true, items: { type: 'object' } }),
  ),
  endSilentAfter: Type.Optional(
    Type.Unsafe<string | null>({
      type: 'string',
      nullable: true,
      pattern: timeSpanPattern,
      'x-message': 'must be whole minutes, hours or days, such as 90m, 24h or 7d, or null',
    }),
  ),
})
export type SettingsChange = Static<typeof SettingsChange>
