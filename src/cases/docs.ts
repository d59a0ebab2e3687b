import {
  deletedAnswer,
  jsonAnswer,
  keyedAnswers,
  listParameter,
  pathParameter,
  queryParameter,
} from '../http/openapi.ts'
import { formatNames, formats } from './formats/formats.ts'
import { Case, CaseList } from './schemas.ts'

// The routes of cases in the OpenAPI document.

const keyed = { tags: ['Cases'], security: [{ apiKey: [] }] }
const id = 'case_019a5f0c2b7e7cc0a1d2e3f405162738'
const parameters = [pathParameter('id', 'Of a case.', id)]
const aCase = jsonAnswer('The case.', Case)

export const listCases = {
  ...keyed,
  operationId: 'listCases',
  summary: 'List the cases',
  description: 'The newest first.',
  parameters: [
    queryParameter('call', 'Only those of this call.', { type: 'string' }, 'call-1042'),
    queryParameter(
      'limit',
      'Cases per page, at most 1000; a larger value counts as 1000.',
      { type: 'integer', minimum: 0, maximum: 999_999_999_999_999, default: 100 },
      100,
    ),
    queryParameter(
      'cursor',
      '`pagination.next` of the previous page.',
      { type: 'string', pattern: '^case_[0-9a-f]{32}$' },
      id,
    ),
  ],
  responses: keyedAnswers({ 200: jsonAnswer('A page of cases.', CaseList) }, []),
}

export const createCase = {
  ...keyed,
  operationId: 'createCase',
  summary: 'Make a test of a call',
  description:
    'The conversation is cut before an answer of the agent, and kept with what is expected of it, redacted. What the agent ' +
    'said directly before the turn belongs to the answer. A case is erased with its call. It has at most 256 KiB, and a ' +
    'project at most 1,000 of them.',
  responses: keyedAnswers(
    { 200: jsonAnswer('The same call, turn and expectation were there already.', Case), 201: aCase },
    [
      'forbidden',
      'not_found',
      'call_is_live',
      'payload_too_large',
      'unsupported_media_type',
      'insufficient_storage',
    ],
  ),
}

export const getCase = {
  ...keyed,
  parameters,
  operationId: 'getCase',
  summary: 'Get a case',
  responses: keyedAnswers({ 200: aCase }, ['not_found']),
}

export const deleteCase = {
  ...keyed,
  parameters,
  operationId: 'deleteCase',
  summary: 'Delete a case and every byte of it',
  description: 'What was exported is its owner’s to erase: `callbook case prune` takes it out of a file.',
  responses: keyedAnswers({ 200: deletedAnswer('The case is deleted.') }, [
    'not_found',
    'insufficient_storage',
  ]),
}

const texts = Object.fromEntries(
  Object.values(formats).map(({ mediaType, head }) => [
    mediaType,
    { schema: { type: 'string' as const }, example: head({}) || '{"type":"llm"}' },
  ]),
)

export const exportCases = {
  ...keyed,
  operationId: 'exportCases',
  summary: 'Export cases for a framework that tests agents',
  description: [
    'A file, the oldest case first.',
    ...Object.entries(formats).map(([name, { about }]) => `- \`${name}\`: ${about}`),
  ].join('\n'),
  parameters: [
    {
      ...queryParameter(
        'format',
        'The framework.',
        { type: 'string', pattern: `^(${formatNames.join('|')})$` },
        'pipecat',
      ),
      required: true,
    },
    listParameter('id', 'Only these cases.', { type: 'string' }, id),
  ],
  responses: keyedAnswers({ 200: { description: 'The file.', content: texts } }, ['not_found']),
}
