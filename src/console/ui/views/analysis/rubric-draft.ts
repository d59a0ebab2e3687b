import type { RubricContent, RubricField } from '../../../../analysis/schemas.ts'

const idCharsMax = 40

/** What is asked by a criterion of the kind `grounded` without a question of its own. */
export const groundedWords = 'Is every fact that the agent states in what it found?'

export interface CriterionDraft {
  /** Identifies it in the form, whatever becomes of its name and its place. */
  row: string
  /** Null until it is saved; then it never changes, since verdicts are found by it. */
  savedId: string | null
  name: string
  kind: 'question' | 'grounded'
  /** May be empty where the kind says what is asked. */
  question: string
}

export interface FieldDraft {
  row: string
  isSaved: boolean
  key: string
  type: RubricField['type']
  description: string
  choices: string[]
}

/** What a number field says while it is typed in. */
type NumberDraft = number | string

/** A rubric as the form has it. */
export interface RubricDraft {
  hasSummary: boolean
  instructions: string
  criteria: CriterionDraft[]
  fields: FieldDraft[]
  evaluation: 'all' | 'some' | 'none'
  /** The rows of the criteria that decide, if some do. */
  deciding: string[]
  minUserTurns: NumberDraft
  minDuration: NumberDraft
  agentIds: string[]
  sources: string[]
  endedReasons: string[]
  sharePercent: NumberDraft
  tokensPerMonth: NumberDraft
}

/** @param isSaved whether the ids of the rubric's criteria and fields stay as they are */
export function draftOf(rubric: RubricContent, isSaved = true): RubricDraft {
  const { summary, criteria, fields, evaluation, when, share, tokensPerMonth } = rubric
  return {
    hasSummary: summary !== null,
    instructions: summary?.instructions ?? '',
    criteria: criteria.map(({ id, name, kind = 'question', question = '' }) => ({
      row: id,
      savedId: isSaved ? id : null,
      name,
      kind,
      question,
    })),
    fields: fields.map(({ choices = [], ...field }) => ({ row: field.key, isSaved, ...field, choices })),
    evaluation: evaluation === null ? 'none' : evaluation === 'all' ? 'all' : 'some',
    deciding: Array.isArray(evaluation) ? evaluation : [],
    minUserTurns: when.minUserTurns ?? '',
    minDuration: when.minDuration ?? '',
    agentIds: when.agentIds ?? [],
    sources: when.sources ?? [],
    endedReasons: when.endedReasons ?? [],
    // 0.29 * 100 is 28.999999999999996.
    sharePercent: Number((share * 100).toFixed(6)),
    tokensPerMonth: tokensPerMonth ?? '',
  }
}

export const emptyDraft = draftOf({
  summary: { instructions: '' },
  criteria: [],
  fields: [],
  evaluation: 'all',
  when: {},
  share: 1,
  tokensPerMonth: null,
})

/** The rubric that a form means. */
export function rubricOf(draft: RubricDraft): RubricContent {
  const ids = idsOf(draft.criteria)
  const { agentIds, sources, endedReasons } = draft
  const [minUserTurns, minDuration, share, tokensPerMonth] = [
    draft.minUserTurns,
    draft.minDuration,
    draft.sharePercent,
    draft.tokensPerMonth,
  ].map((typed) => (String(typed).trim() === '' ? null : Number(typed)))
  const deciding = draft.criteria.flatMap(({ row }) =>
    draft.deciding.includes(row) ? [ids.get(row) ?? ''] : [],
  )
  return {
    summary: draft.hasSummary ? { instructions: draft.instructions } : null,
    criteria: draft.criteria.map(({ row, name, kind, question }) => ({
      id: ids.get(row) ?? '',
      name,
      ...(kind === 'grounded' && { kind }),
      ...((kind === 'question' || question.trim() !== '') && { question }),
    })),
    fields: draft.fields.map(({ key, type, description, choices }) => ({
      key,
      type,
      description,
      ...(type === 'enum' && { choices }),
    })),
    evaluation: draft.evaluation === 'some' ? deciding : draft.evaluation === 'all' ? 'all' : null,
    when: {
      ...(minUserTurns != null && { minUserTurns }),
      ...(minDuration != null && { minDuration }),
      ...(agentIds.length > 0 && { agentIds }),
      ...(sources.length > 0 && { sources }),
      ...(endedReasons.length > 0 && { endedReasons }),
    },
    share: share == null ? 1 : share / 100,
    tokensPerMonth: tokensPerMonth ?? null,
  }
}

/** The id of each criterion, by row: the saved one, or one that its name makes. */
export function idsOf(criteria: readonly CriterionDraft[]): Map<string, string> {
  const taken = new Set(criteria.map(({ savedId }) => savedId))
  return new Map(
    criteria.map(({ row, savedId, name }, at) => {
      if (savedId !== null) return [row, savedId]
      const plain = idOf(name) || `criterion_${at + 1}`
      let id = plain
      for (let count = 2; taken.has(id); count++)
        id = `${plain.slice(0, idCharsMax - 1 - String(count).length)}_${count}`
      taken.add(id)
      return [row, id]
    }),
  )
}

/** `Confirmed the date` as `confirmed_the_date`; empty for a name without Latin letters and digits. */
export function idOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_/, '')
    .slice(0, idCharsMax)
    .replace(/_$/, '')
}

export function newCriterion(): CriterionDraft {
  return { row: crypto.randomUUID(), savedId: null, name: '', kind: 'question', question: '' }
}

export function newField(): FieldDraft {
  const row = crypto.randomUUID()
  return { row, isSaved: false, key: '', type: 'string', description: '', choices: [] }
}
