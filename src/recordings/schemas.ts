import { type Static, Type } from '@sinclair/typebox'
import { named } from '../validation.ts'

const nullable = <Value>(schema: object) => Type.Unsafe<Value | null>({ ...schema, nullable: true })

/** The answer to an upload. */
export const KeptRecording = named('KeptRecording', {
  id: Type.String({ description: "The call's id.", example: 'call-1042' }),
  contentType: Type.String({ description: 'As its bytes say.', example: 'audio/wav' }),
  bytes: Type.Integer({ example: 1_440_044 }),
  durationSeconds: nullable<number>({
    type: 'number',
    example: 90,
    description: 'Null if the file does not say.',
  }),
  channels: nullable<number>({ type: 'integer', example: 2 }),
  sha256: Type.String({
    description: 'Of the bytes, in hex.',
    example: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  }),
})
export type KeptRecording = Static<typeof KeptRecording>

const linkSecondsMin = 60
const linkSecondsMax = 86_400

export const NewLink = named('RecordingLinkRequest', {
  expiresInSeconds: Type.Optional(
    Type.Integer({
      minimum: linkSecondsMin,
      maximum: linkSecondsMax,
      description: 'By default 300.',
      example: 300,
    }),
  ),
})

export const RecordingLink = named('RecordingLink', {
  url: Type.String({
    description: 'Plays without a header.',
    example: 'https://callbook.example.com/recordings/WyI5…',
  }),
  expiresAt: Type.String({ format: 'date-time', example: '2026-01-31T09:35:00.000Z' }),
})
