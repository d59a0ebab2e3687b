import { jsonAnswer, keyedAnswers, pathParameter } from '../http/openapi.ts'
import { AcceptedErasure, CountedCalls, ErasureReceipt, RecordId } from './schemas.ts'

// What the OpenAPI document says about erasures.

const keyed = { tags: ['Changes'], security: [{ apiKey: [] }] }

export const requestErasure = {
  ...keyed,
  operationId: 'requestErasure',
  summary: 'Erase the calls of a number, of a list, or from before a time',
  description:
    'Exactly one of `number`, `ids` and `before`. The calls are those that match now: later ones are not affected. ' +
    'They are deleted in the background, as by `DELETE /v1/calls/{id}`; the receipt tells how many are, and when the last ' +
    'byte of them was gone. Calls on hold stay. Nothing keeps the number. The same request again does no harm.',
  responses: keyedAnswers(
    {
      200: jsonAnswer('Of a dry run: how many calls there are.', CountedCalls),
      202: jsonAnswer('Accepted.', AcceptedErasure),
    },
    ['payload_too_large', 'unsupported_media_type', 'insufficient_storage'],
  ),
}

export const getErasure = {
  ...keyed,
  operationId: 'getErasure',
  summary: 'See whether a deleted record, or what a request names, is erased',
  description:
    'By the id of the call or knowledge item, also of an item that was changed, whose earlier text is erased; or by that ' +
    'of a request (`era_…`). The receipt is kept under a keyed hash of the id; nothing of the record is.',
  parameters: [
    pathParameter('id', 'The id of the deleted call or item, or of the request.', 'call-1042', RecordId),
  ],
  responses: keyedAnswers({ 200: jsonAnswer('The receipt.', ErasureReceipt) }, ['not_found']),
}
