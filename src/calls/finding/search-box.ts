import type { ReadDatabase } from '../../db/reader.ts'
import { type FieldError, invalidRequest } from '../../errors.ts'
import { callFilters } from '../filters.ts'
import { type CallQuery, type CallSearch, readCallSearch, valuesOf } from './call-query.ts'
import { beginsWithId, type Condition, toCondition } from './conditions.ts'
import { CallFinder } from './find-calls.ts'
import { callOrders, newestFirst, type ReadCursor } from './place.ts'

/** How the text in the console's search box was read. */
export type FoundBy = 'id' | 'number' | 'words'

const idForm = /^(?=.*\d)[A-Za-z0-9._:-]{4,128}$/
const numberForm = /^\+?[\d\s().\-/]+$/
const digitsMin = 3
const numberFilter = callFilters.find(({ name }) => name === 'number')

interface BoxOptions {
  /** By default, cursors are refused. */
  readCursor?: ReadCursor
  /** What else is wrong with the query. */
  errors?: FieldError[]
  /** What else the calls must meet. */
  conditions?: readonly Condition[]
}

/**
 * Reads the query of the console's list. If the text in its search box looks like a number or an id and a call has it, it
 * is one. Anything else, and anything in quotation marks, is words.
 * @throws invalid_request for values that cannot be read
 */
export async function readSearchBox(
  db: ReadDatabase,
  projectId: number,
  query: CallQuery,
  { readCursor = () => undefined, errors = [], conditions = [] }: BoxOptions = {},
): Promise<{ search: CallSearch; foundBy: FoundBy | null }> {
  const search = readCallSearch(query, { orders: callOrders, readCursor }, errors)
  if (errors.length > 0) throw invalidRequest(errors)
  search.conditions = [...search.conditions, ...conditions]
  const text = valuesOf(query, 'text')?.[0]
  if (text === undefined) return { search, foundBy: null }
  const { words, phrases: _, ...others } = search
  for (const [foundBy, condition] of meaningsOf(text.trim())) {
    const alone = new CallFinder(db, projectId, { conditions: [condition], order: newestFirst })
    if ((await alone.places(1)).length === 0) continue
    return { search: { ...others, conditions: [...others.conditions, condition] }, foundBy }
  }
  return { search, foundBy: words ? 'words' : null }
}

function meaningsOf(text: string): [FoundBy, Condition][] {
  const meanings: [FoundBy, Condition | string][] = []
  if (numberFilter?.kind === 'digits' && numberForm.test(text) && text.replace(/\D/g, '').length >= digitsMin)
    meanings.push(['number', toCondition(numberFilter, [text])])
  if (idForm.test(text)) meanings.push(['id', beginsWithId(text)])
  return meanings.flatMap(([foundBy, condition]) =>
    typeof condition === 'string' ? [] : [[foundBy, condition] as [FoundBy, Condition]],
  )
}
