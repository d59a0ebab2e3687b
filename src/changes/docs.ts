import type { TSchema } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'
import { jsonAnswer, keyedAnswers } from '../http/openapi.ts'
import { changePageOf, includes } from './schemas.ts'

/** The route of changes in the OpenAPI document. @param records the schemas of a call and an item */
export function listChanges(records: { Call: TSchema; Item: TSchema }) {
  const page = jsonAnswer('A page of changes, or a stream of them.', changePageOf(records))
  const events: OpenAPIV3.MediaTypeObject = {
    schema: {
      type: 'string',
      description: 'Server-sent events: `id` is seq, `event` the type, `data` a Change.',
    },
    example: 'id: 42\nevent: call.deleted\ndata: {"seq":42,"type":"call.deleted","ref":"5d0c…","at":"…"}\n\n',
  }
  return {
    tags: ['Changes'],
    security: [{ apiKey: [] }],
    operationId: 'listChanges',
    summary: 'Follow changes, oldest first',
    description:
      'Each call and knowledge item appears once, at its newest change; a deleted one appears with its ' +
      'deletion. Read on with `after` set to `next` until `hasMore` is false: you then have exactly what the ' +
      'project holds. `Accept: text/event-stream` streams the changes, and `Last-Event-ID` resumes the ' +
      'stream.',
    parameters: [
      numberParameter('after', 0, '`next` from the previous page; 0 starts with the oldest change.'),
      numberParameter('limit', 100, 'Changes per page, at most 1000; a larger value counts as 1000.'),
      numberParameter(
        'wait',
        0,
        'Seconds to wait while there are no changes, at most 30; a larger value counts as 30.',
      ),
      {
        name: 'include',
        in: 'query',
        required: false,
        example: 'call',
        description:
          '`details` adds the member `details` to each call, `none` leaves out the documents of changed records.',
        schema: { type: 'string', enum: [...includes], default: 'call' },
      } satisfies OpenAPIV3.ParameterObject,
      {
        name: 'Last-Event-ID',
        in: 'header',
        required: false,
        example: '42',
        description: 'Of a stream: where to resume, instead of `after`.',
        schema: { type: 'string', pattern: '^[0-9]{0,15}$' },
      } satisfies OpenAPIV3.ParameterObject,
    ],
    responses: keyedAnswers({ 200: { ...page, content: { ...page.content, 'text/event-stream': events } } }, [
      'invalid_request',
    ]),
  }
}

function numberParameter(name: string, fallback: number, description: string): OpenAPIV3.ParameterObject {
  const schema: OpenAPIV3.SchemaObject = {
    type: 'integer',
    minimum: 0,
    maximum: 999_999_999_999_999,
    default: fallback,
  }
  return { name, in: 'query', required: false, description, schema, example: fallback }
}
