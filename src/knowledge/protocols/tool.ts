import { AppError } from '../../errors.ts'
import { embeddedText } from '../chunking/chunk.ts'
import type { SearchHit } from '../schemas.ts'
import { faultsSentence } from './error-sentence.ts'
import { parametersOf } from './vapi.ts'
import type { LookUpOptions } from './vapi-answers.ts'

const resultCharsMax = 8_000

/**
 * The result of a search as text for a model: the passages, best first. A failed search becomes a sentence, so that the
 * call goes on.
 * @param parameters from the model, as an object or as JSON text
 * @param callId unchecked
 */
export async function answerTool(
  { search, onFailure }: LookUpOptions,
  projectId: number,
  { parameters, callId }: { parameters: unknown; callId: unknown },
): Promise<{ result: string }> {
  try {
    const { answer } = await search.search(
      projectId,
      parametersOf({ id: undefined, name: undefined, parameters }),
      callId,
    )
    return { result: toText(answer.data) }
  } catch (error) {
    // The model can correct its own parameters.
    const faults = error instanceof AppError ? error.errors : undefined
    if (faults) return { result: faultsSentence(faults) }
    onFailure(error)
    return { result: 'The search failed.' }
  }
}

function toText(hits: SearchHit[]): string {
  const passages = hits.map((hit) => embeddedText(hit.name, hit))
  const text = passages.join('\n\n').trim()
  return text === '' ? 'Nothing was found.' : text.slice(0, resultCharsMax).toWellFormed()
}
