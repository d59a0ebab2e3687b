import type { Platform } from './event.ts'
import { agentOf, isoTime, positive, updateOf } from './facts.ts'
import { isObject } from './fields.ts'
import { bearerOf, isSecret } from './signature.ts'

// https://docs.dograh.com/developer/webhooks: the body is a template of the user's, for which the guide has this one.

/** Every value is text, empty when it is not known. The transcript is behind a link with a key, which is not kept. */
export const dograh: Platform = {
  isGenuine({ headers }, secret) {
    return isSecret(bearerOf(headers), secret)
  },

  read(run) {
    const name = run.text('agent')
    return updateOf(
      run.required('id'),
      {
        status: 'completed',
        duration: positive(run.number('duration')),
        endedReason: run.text('disposition') ?? run.text('call_disposition'),
        callerNumber: run.phoneNumber('caller'),
        calledNumber: run.phoneNumber('called'),
        callAnalysis: analysisOf(run.own('analysis')),
        createdAt: isoTime(run.time('calledAt')),
      },
      { agent: agentOf(name, name) },
    )
  },
}

/** Annotations, which the template writes as the text of a JSON object. */
function analysisOf(value: unknown): Record<string, unknown> | undefined {
  if (isObject(value)) return value
  if (typeof value !== 'string') return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    return isObject(parsed) ? parsed : undefined
  } catch {
    // Whatever else the user fills in stays out.
    return undefined
  }
}
