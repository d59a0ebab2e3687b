import { type Static, Type } from '@sinclair/typebox'
import { named } from '../validation.ts'
import { type PlatformName, platformNames } from './catalog.ts'

const time = Type.String({ format: 'date-time', example: '2026-01-31T09:30:00.000Z' })
const text = (maxLength: number, example: string) => Type.String({ minLength: 1, maxLength, example })

export const NewSource = named('SourceRequest', {
  platform: Type.String({
    minLength: 1,
    maxLength: 50,
    example: 'vapi',
    description: `One of ${platformNames.join(', ')}.`,
  }),
  name: Type.Optional(text(200, 'Vapi')),
  secret: Type.Optional(text(500, 'a-secret-of-at-least-sixteen-characters')),
  options: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      title: 'SourceSettings',
      type: 'object',
      additionalProperties: { type: 'string' },
      example: { metadata: 'keep' },
    }),
  ),
})

/** Null clears an option. */
export const ChangedSource = named('SourceUpdate', {
  name: Type.Optional(text(200, 'Vapi')),
  options: Type.Optional(
    Type.Unsafe<Record<string, string | null>>({
      title: 'SourceSettingsUpdate',
      type: 'object',
      additionalProperties: { type: 'string', nullable: true },
      example: { metadata: 'keep' },
    }),
  ),
})
export type SourceChange = Static<typeof ChangedSource>

/** If it is absent, a new one is made. */
export const NewSecret = named('SecretRequest', {
  secret: Type.Optional(text(500, 'a-secret-of-at-least-sixteen-characters')),
})

const SourcePolls = Type.Object(
  {
    every: Type.String({ example: '5m' }),
    lastAt: Type.Unsafe<string | null>({
      ...time,
      nullable: true,
      description: 'When the last one succeeded.',
    }),
    reason: Type.Unsafe<string | null>({
      type: 'string',
      nullable: true,
      description: 'Why the last one has failed, or could not read a call.',
    }),
  },
  { title: 'SourcePolls', description: 'How the platform is polled; null if it is not.' },
)

export const Source = named('Source', {
  id: Type.String({ example: 'src_5f0c2b7e7cc0a1d2e3f4051627384950' }),
  platform: Type.Unsafe<PlatformName>({ type: 'string', enum: platformNames }),
  name: Type.String({ example: 'Vapi' }),
  projectId: Type.String({ example: 'prj_019a5f0c2b7e7cc0a1d2e3f405162738' }),
  url: Type.String({
    description: 'What the platform is given: where it sends.',
    example: 'https://calls.example.com/ingest/from/src_5f0c2b7e7cc0a1d2e3f4051627384950',
  }),
  options: Type.Unsafe<Record<string, string | true>>({
    title: 'SourceOptions',
    type: 'object',
    additionalProperties: true,
    description: 'Of a secret only `true`: that it is set.',
    example: { metadata: 'keep', apiKey: true },
  }),
  hasSecret: Type.Boolean({ description: 'Without a secret, every event is refused.', example: true }),
  events: Type.Integer({ minimum: 0, description: 'Genuine ones.', example: 118 }),
  failures: Type.Integer({
    minimum: 0,
    description: 'Events of the last week that could not be read.',
    example: 0,
  }),
  lastEventAt: Type.Unsafe<string | null>({ ...time, nullable: true }),
  poll: Type.Unsafe<Static<typeof SourcePolls> | null>({ ...SourcePolls, nullable: true }),
  createdAt: time,
})

export const MadeSource = named('MadeSource', {
  ...Source.properties,
  secret: Type.Optional(
    Type.String({ description: 'One that was made here. It is shown only once.', example: 'f00d…' }),
  ),
})
export const SourceList = named('SourceList', { data: Type.Array(Source) })

export const SourceSecret = named('SourceSecret', {
  id: Source.properties.id,
  secret: Type.Optional(
    Type.String({ description: 'One that was made here. It is shown only once.', example: 'f00d…' }),
  ),
})

export const SourceFailures = named('SourceFailures', {
  data: Type.Array(
    named('SourceFailure', {
      at: time,
      callId: Type.Unsafe<string | null>({ type: 'string', nullable: true, example: 'call-1042' }),
      field: Type.String({ example: 'message.call.id' }),
      message: Type.String({ example: 'is required' }),
      isKept: Type.Boolean({ description: 'Whether enough of the event is kept to read it again.' }),
    }),
  ),
})
