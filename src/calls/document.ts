import type { Call } from './schemas.ts'

/** The JSON text of a call: exactly the bytes that `GET /v1/calls/:id` answers, fields in their documented order. */
export function toDocument(call: Call): string {
  return JSON.stringify({
    id: call.id,
    status: call.status,
    duration: call.duration,
    summary: call.summary,
    evaluation: call.evaluation,
    endedReason: call.endedReason,
    callerNumber: call.callerNumber,
    calledNumber: call.calledNumber,
    isEngaged: call.isEngaged,
    callAnalysis: call.callAnalysis,
    transcript: call.transcript,
    createdAt: call.createdAt,
    updatedAt: call.updatedAt,
  })
}
