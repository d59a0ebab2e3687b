import { AppError, type ErrorCode } from '../errors.ts'
import { embeddedText } from '../knowledge/chunking/chunk.ts'
import { type SearchHit, searchLimitMax } from '../knowledge/schemas.ts'
import type { DifyAnswer, DifyError, DifyRequest } from './dify-schemas.ts'
import { errorSentence } from './error-sentence.ts'

/** The same error whether the knowledge belongs to another project or does not exist. */
export class UnknownKnowledge extends AppError {
  constructor() {
    super('not_found', 'Knowledge not found', {
      detail:
        "knowledge_id is neither the key's project, by id or name, nor an item that the key may find, nor tags: with names.",
    })
  }
}

const errorCodes: Partial<Record<ErrorCode, number>> = {
  missing_authorization: 1001,
  invalid_api_key_format: 1002,
  invalid_api_key: 1002,
  api_key_expired: 1002,
  ip_address_not_allowed: 1002,
  insufficient_scope: 1002,
  forbidden: 1002,
}

/** Dify's user sets how many records to ask for; search returns 1 to 50. */
export function limitOf({ top_k: limit }: DifyRequest['retrieval_setting']): number | undefined {
  return limit == null ? undefined : Math.min(Math.max(limit, 1), searchLimitMax)
}

/** Only `content` reaches the model, so it includes the name and heading. Dify 1.13 fails without a `document_id`. */
export function toRecords(
  hits: SearchHit[],
  coverages: readonly number[],
  { score_threshold }: DifyRequest['retrieval_setting'],
): DifyAnswer['records'] {
  const scoreMin = score_threshold ?? 0
  return hits
    .map((hit, at) => ({
      content: embeddedText(hit.name, hit),
      // Not its rank: only the coverage compares between questions.
      score: coverages[at] ?? 0,
      title: hit.name,
      metadata: { document_id: hit.itemId, heading: hit.heading ?? '', position: hit.position },
    }))
    .filter(({ score }) => score >= scoreMin)
}

/** Dify defines three codes. Other errors use their HTTP status as the code. */
export function toErrorBody(error: AppError): DifyError {
  const code = error instanceof UnknownKnowledge ? 2001 : (errorCodes[error.code] ?? error.status)
  return { error_code: code, error_msg: errorSentence(error) }
}
