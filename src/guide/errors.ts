import { type ErrorCode, errorStatus } from '../errors.ts'

/** What each code means and what a client can do. The `detail` of an answer is more specific. */
const explanations: Record<ErrorCode, string> = {
  missing_authorization:
    'Missing or invalid Authorization header. Send <code>Authorization: Bearer &lt;key&gt;</code>.',
  invalid_api_key_format:
    'Invalid API key format. API keys start with <code>ck_live_</code>, ingest keys with <code>ck_ingest_</code>.',
  invalid_api_key: 'Invalid API key. It is unknown or has been revoked.',
  invalid_signature:
    'Invalid signature. The request is not signed with the secret of its source, or it is too old.',
  api_key_expired: 'API key has expired. Create a new one.',
  not_signed_in:
    'Sign in required. The session has ended. Only the console under <code>/console</code> answers this.',
  wrong_credentials: 'Email address or password is wrong. Only sign-in to the console answers this.',
  ip_address_not_allowed: "IP address not allowed. The request's address is not on the key's allow-list.",
  insufficient_scope:
    'Key does not allow this. The scope of the key (<code>read</code> or <code>search</code>) does not cover the route.',
  forbidden: 'Forbidden. The route is not for this caller.',
  two_factor_required:
    'Second factor required. The person has to set up two-factor sign-in first. Only the console answers this.',
  invalid_request: 'Invalid request. <code>errors</code> names each invalid field.',
  not_found:
    'Call not found, Knowledge item not found, Recording not found, Rubric not found, Case not found, Source not found, Webhook not found, Question not found, or Not found. A record of another project is not found either.',
  method_not_allowed: 'Method not allowed. <code>Allow</code> lists the methods that the path accepts.',
  transcript_gap:
    'Transcript does not continue. Send the turns that follow the stored transcript, or all of them.',
  timeline_gap:
    'Timeline does not continue. Send the entries that follow the stored timeline, or all of it as <code>details.timeline</code>.',
  call_is_live: 'Call is live. Wait until it is completed.',
  import_is_running:
    'Import is running. A source imports its history once at a time. Stop it first, or wait.',
  call_on_hold: 'Call is on hold. The call cannot be deleted until an owner of the project lifts the hold.',
  note_has_changed:
    'Note has changed. Another person has changed the note on the call. Only the console answers this.',
  words_of_a_call:
    'These words were said in a call. Kept as a golden question, they are erased with the call. Only the console answers this.',
  call_was_deleted: 'Call was deleted. A deleted id cannot be used again.',
  item_was_deleted:
    'Knowledge item was deleted. The item that this <code>Idempotency-Key</code> created is gone. Use another key to create another item.',
  item_has_changed:
    'Item has changed. It does not match <code>If-Match</code> or <code>If-None-Match</code>. Read it again, then repeat the change with its new <code>ETag</code>.',
  payload_too_large:
    'Payload too large. Split a long text into several items. A call, with everything merged into it, also has a maximum size.',
  range_not_satisfiable:
    'Range not satisfiable. The range begins after the end of the recording. `Content-Range` says how long it is.',
  unsupported_media_type:
    'Unsupported media type. Send <code>Content-Type: application/json</code>, in UTF-8 and not compressed.',
  idempotency_key_in_use:
    'Request with this Idempotency-Key is still running. Send it again after <code>Retry-After</code> seconds.',
  file_cannot_be_read: 'File cannot be read. <code>detail</code> says why. Fix the file, then send it again.',
  no_such_turn: 'No such turn. The call has no turn with this number. Only the console answers this.',
  idempotency_key_reused:
    'Idempotency-Key was used with another body. Use a new key for each create, and the same one for its retries.',
  rate_limited: 'Too many requests. Wait for <code>Retry-After</code> seconds.',
  internal: 'Internal error. Try again. If it persists, give the request id to whoever runs the service.',
  unavailable: 'Service unavailable. Wait for <code>Retry-After</code> seconds.',
  insufficient_storage: 'Insufficient storage. The disk of the service is full. Nothing was written.',
}

/** The table of errors, as HTML. The `type` of an error leads to a row. */
export function errorsTable(): string {
  const rows = Object.entries(explanations).map(
    ([code, text]) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${errorStatus[code as ErrorCode]}</td><td>${text}</td></tr>`,
  )
  return `<div class="scroll" tabindex="0"><table><thead><tr><th>code</th><th>status</th><th>meaning</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table></div>`
}
