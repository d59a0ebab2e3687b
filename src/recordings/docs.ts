import type { OpenAPIV3 } from 'openapi-types'
import {
  deletedAnswer,
  headerOf,
  headerParameter,
  jsonAnswer,
  keyedAnswers,
  notModified,
  pathParameter,
  problemAnswers,
} from '../http/openapi.ts'
import { mediaTypes } from './media-type.ts'
import { KeptRecording, RecordingLink } from './schemas.ts'

// The routes of recordings in the OpenAPI document.

const keyed = { tags: ['Recordings'], security: [{ apiKey: [] }] }
const parameters = [pathParameter('id', "The platform's own id for the call.", 'call-1042')]
const sound: OpenAPIV3.ResponseObject['content'] = {
  'audio/*': { schema: { type: 'string', format: 'binary' }, example: 'RIFF…' },
}
const range = headerParameter(
  'Range',
  'One range of bytes; several are answered with the whole.',
  'bytes=0-65535',
  {
    required: false,
  },
)
const playing = {
  200: {
    description: 'The whole recording, as it was sent.',
    headers: {
      'Accept-Ranges': headerOf('Always `bytes`.', 'bytes'),
      'Content-Disposition': headerOf(
        'With a name made of the id of the call.',
        'inline; filename="call-1042.wav"',
      ),
    },
    content: sound,
  },
  206: {
    description: 'The range.',
    headers: { 'Content-Range': headerOf('Which bytes, of how many.', 'bytes 0-65535/1440044') },
    content: sound,
  },
  ...notModified,
}

export const uploadRecording = {
  tags: ['Ingest'],
  security: [{ ingestKey: [] }],
  parameters,
  operationId: 'uploadRecording',
  summary: "Keep a call's recording",
  description:
    `The body is the file itself, which is recognised by its bytes: ${mediaTypes.join(', ')}. It replaces any other recording of the call. ` +
    'An unknown call is created. The same recording again changes nothing.',
  requestBody: { required: true, content: sound },
  responses: keyedAnswers(
    {
      200: jsonAnswer('The recording replaced another one, or was there.', KeptRecording),
      201: jsonAnswer('The recording is kept.', KeptRecording),
    },
    [
      'forbidden',
      'call_on_hold',
      'call_was_deleted',
      'payload_too_large',
      'unsupported_media_type',
      'insufficient_storage',
    ],
  ),
}

export const getRecording = {
  ...keyed,
  parameters: [...parameters, range],
  operationId: 'getRecording',
  summary: "Play or download a call's recording",
  responses: keyedAnswers(playing, ['not_found', 'range_not_satisfiable']),
}

export const deleteRecording = {
  ...keyed,
  parameters,
  operationId: 'deleteRecording',
  summary: "Delete a call's recording for good, and keep the call",
  responses: keyedAnswers({ 200: deletedAnswer('The recording is deleted, and is being erased.') }, [
    'not_found',
    'call_on_hold',
    'insufficient_storage',
  ]),
}

export const linkRecording = {
  ...keyed,
  parameters,
  operationId: 'linkRecording',
  summary: 'Make a link that plays a recording without a key',
  description:
    'For players that cannot send a header. The link is void once its time is over, the recording is deleted or ' +
    'replaced, or the key that made it is revoked or has expired.',
  responses: keyedAnswers({ 201: jsonAnswer('The link.', RecordingLink) }, [
    'not_found',
    'payload_too_large',
    'unsupported_media_type',
  ]),
}

export const playLink = {
  tags: ['Recordings'],
  security: [],
  parameters: [pathParameter('id', 'From a link.', 'WyI5ZjZj…'), range],
  operationId: 'playLink',
  summary: 'Play what a link opens',
  responses: {
    ...playing,
    ...problemAnswers(['not_found', 'range_not_satisfiable', 'invalid_request', 'rate_limited', 'internal']),
  },
}
