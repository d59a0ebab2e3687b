import { jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import { AcceptedErasure, CountedCalls, ErasureReceipt, RecordId } from './schemas.ts'

// The routes of erasures in the OpenAPI document.

const keyed = { tags: ['Changes'], security: [{ apiKey: [] }] }

export const requestErasure = {
  ...keyed,
  operationId: 'requestErasure',
  summary: 'Erase the calls of a number, of a list, or from before a time',
  description:
    'Send exactly one of `number`, `ids` and `before`. This erases the calls that match now; later calls ' +
    'are not affected. They are deleted in the background, as by `DELETE /v1/calls/{id}`. The receipt ' +
    'says how many are deleted, and when their last byte was gone. Calls on hold stay. The number itself ' +
    'is not kept. Repeating the request does no harm.',
  responses: keyedAnswers(
    {
      200: jsonAnswer('A dry run: how many calls match.', CountedCalls),
      202: jsonAnswer('Accepted.', AcceptedErasure),
    },
    ['payload_too_large', 'unsupported_media_type', 'insufficient_storage'],
  ),
}

export const getErasure = {
  ...keyed,
  operationId: 'getErasure',
  summary: 'Check whether a deleted record or an erasure request is erased',
  description:
    'Takes the id of a deleted call or knowledge item, of an item whose text was changed (its earlier ' +
    'text is erased), or of an erasure request (`era_…`). The receipt is kept under a keyed hash of the ' +
    'id. Nothing of the record is kept.',
  parameters: [
    pathParameter('id', 'The id of the deleted call or item, or of the request.', 'call-1042', RecordId),
  ],
  responses: keyedAnswers({ 200: jsonAnswer('The receipt.', ErasureReceipt) }, ['not_found']),
}
