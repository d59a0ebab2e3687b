import type { Admission } from './admission.ts'
import type { LimitRate } from './authenticate.ts'
import type { RequestContexts } from './request-context.ts'
import type { ResponseBuffers } from './response-buffers.ts'

/** What routes take from the HTTP floor, beside what their feature does. */
export interface Http {
  contexts: RequestContexts
  admission: Admission
  limitRate: LimitRate
  buffers: ResponseBuffers
  /** Where clients reach the service, if it is configured. */
  publicUrl: string | null
  /** Keeps the runtime from closing the request's idle connection. */
  keepOpen: (request: Request) => void
  onUnexpected: (error: unknown, requestId: string) => void
  onFailure: (error: unknown, request: Request) => void
}
