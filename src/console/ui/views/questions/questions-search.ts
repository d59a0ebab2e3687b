import { wordParam } from '../../search-params.ts'

export const outcomes = ['none', 'weak', 'found'] as const

/** The parameters of the questions in the address; invalid ones are left out. */
interface QuestionsSearch {
  /** What was found; by default nothing, or weak matches where there are only those. */
  outcome?: (typeof outcomes)[number] | undefined
  /** Of the questions that were found, only those that this item answered. */
  item?: string | undefined
}

export function questionsSearch({ outcome, item }: Record<string, unknown>): QuestionsSearch {
  const found = wordParam(outcome, outcomes)
  const isId = typeof item === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(item)
  return { outcome: found, item: found === 'found' && isId ? item : undefined }
}
