import type { ErrorCode } from '../errors.ts'

/** The errors of one status: the status's name in the document, its meaning, and an example. */
export interface ErrorStatus {
  name: string
  description: string
  code: ErrorCode
  title: string
}

/** The statuses of errors in the OpenAPI document. */
export const errorStatuses: Record<number, ErrorStatus> = {
  400: {
    name: 'BadRequest',
    description: 'The request is not valid. `errors` has one entry per field.',
    code: 'invalid_request',
    title: 'Invalid request',
  },
  401: {
    name: 'Unauthorized',
    description: 'The API key is missing, malformed, unknown, revoked or expired.',
    code: 'invalid_api_key',
    title: 'Invalid API key',
  },
  403: {
    name: 'Forbidden',
    description:
      "The address is not on the key's allow-list, the key's scope does not allow this, or the route is not for this caller.",
    code: 'ip_address_not_allowed',
    title: 'IP address not allowed',
  },
  404: {
    name: 'NotFound',
    description: 'There is no such record in this project.',
    code: 'not_found',
    title: 'Not found',
  },
  405: {
    name: 'MethodNotAllowed',
    description:
      'The path does not accept this method (for example, one with `search` as the id). `Allow` lists the methods that it accepts.',
    code: 'method_not_allowed',
    title: 'Method not allowed',
  },
  409: {
    name: 'Conflict',
    description:
      'The current state does not allow this: the turns do not continue the transcript, or the entries the timeline, a request with the same key is running, or the call is on hold.',
    code: 'transcript_gap',
    title: 'Transcript does not continue',
  },
  410: {
    name: 'Gone',
    description: 'The record was deleted and stays deleted.',
    code: 'call_was_deleted',
    title: 'Call was deleted',
  },
  412: {
    name: 'PreconditionFailed',
    description: 'The item does not match `If-Match` or `If-None-Match`.',
    code: 'item_has_changed',
    title: 'Item has changed',
  },
  413: {
    name: 'PayloadTooLarge',
    description:
      'The body or the text is too large, or JSON, or a line of it, has more than 250,000 members.',
    code: 'payload_too_large',
    title: 'Payload too large',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body has an unsupported type, or it is compressed.',
    code: 'unsupported_media_type',
    title: 'Unsupported media type',
  },
  416: {
    name: 'RangeNotSatisfiable',
    description: 'The range begins after the end.',
    code: 'range_not_satisfiable',
    title: 'Range not satisfiable',
  },
  422: {
    name: 'UnprocessableContent',
    description: 'The file cannot be read, or the Idempotency-Key was used with another body.',
    code: 'idempotency_key_reused',
    title: 'Idempotency-Key was used with another body',
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests for this key.',
    code: 'rate_limited',
    title: 'Too many requests',
  },
  500: {
    name: 'InternalError',
    description: 'Something went wrong on our side.',
    code: 'internal',
    title: 'Internal error',
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'Not possible right now. Try again after `Retry-After` seconds.',
    code: 'unavailable',
    title: 'Service unavailable',
  },
  507: {
    name: 'InsufficientStorage',
    description: 'The disk is full.',
    code: 'insufficient_storage',
    title: 'Insufficient storage',
  },
}
