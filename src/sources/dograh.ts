import { findProblem, jsonOf, unfaithful } from '../validation.ts'
import { agentOf, updateOf } from './call-fields.ts'
import type { Platform } from './event.ts'
import { isObject } from './fields.ts'
import { bearerOf, isSecret } from './signature.ts'

// https://docs.dograh.com/developer/webhooks: users write the template of the body. This reads the guide's template.

/** Every value is text, empty if unknown. The transcript is behind a link with a key, which is not kept. */
export const dograh: Platform = {
  hasSecret(headers, secret) {
    return isSecret(bearerOf(headers), secret)
  },

  read(run) {
    const name = run.text('agent')
    return updateOf(
      run.required('id'),
      {
        status: 'completed',
        duration: run.number('duration'),
        endedReason: run.text('disposition') ?? run.text('call_disposition'),
        callerNumber: run.phoneNumber('caller'),
        calledNumber: run.phoneNumber('called'),
        callAnalysis: objectOf(run.own('analysis')),
        createdAt: run.time('calledAt'),
      },
      { agent: agentOf(name, name, run.plain('definition_id')), costUsd: run.number('charge_usd') },
    )
  },

  attached(run) {
    return [objectOf(run.own('metadata')) ?? {}]
  },
}

/** A JSON object, which the template writes as text. */
function objectOf(value: unknown): Record<string, unknown> | undefined {
  if (isObject(value)) return value
  // The user's template may have something else here.
  const json = typeof value === 'string' ? jsonOf(value) : undefined
  // Checked like a body, since the body's check did not see inside this text.
  return isObject(json) && findProblem(json, unfaithful) === null ? json : undefined
}
