import { eq } from 'drizzle-orm'
import type { ReadDatabase } from '../../db/reader.ts'
import { projects } from '../../db/schema.ts'
import { type FieldError, invalidRequest } from '../../errors.ts'
import { type CallQuery, type CallSearch, readCallSearch, valuesOf } from './call-query.ts'
import { beginsWithId, type Condition, hasId, hasNumber, isInSet, isOfTrace, isSilent } from './conditions.ts'
import { CallFinder } from './find-calls.ts'
import { newestFirst, type ReadCursor, timeOrders } from './place.ts'
import { readValueOrder, type ValueOrder } from './value-order.ts'

/** How the text in the console's search box was read. */
export type FoundBy = 'id' | 'number' | 'words'

const idForm = /^[A-Za-z0-9._:-]{4,128}$/
/** A text that begins ids. Others, such as `booking`, are words first, and ids only as a whole. */
const idStartForm = /[\d._:-]/
const traceIdForm = /^[0-9a-f]{32}$/i
const numberForm = /^\+?[\d\s().\-/]+$/
const digitsMin = 3
/** The calling code of projects that have not said where they are. */
const northAmerica = '1'

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
  { readCursor = () => undefined, errors = [], conditions: given = [] }: BoxOptions = {},
): Promise<{ search: CallSearch; foundBy: FoundBy | null; valueOrder: ValueOrder | undefined }> {
  const valueOrder = readValueOrder(query)
  const { order, ...unordered } = query
  const read: ReadCursor = (cursor, known) => readCursor(cursor, valueOrder ? `${order}` : known)
  const asked = valueOrder ? unordered : query
  const search = readCallSearch(asked, { orders: timeOrders, readCursor: read }, errors)
  // The list resolves `caller` to one of the given conditions. Where nobody does, it would be ignored.
  if (valuesOf(query, 'caller') !== undefined && given.length === 0)
    errors.push({ field: 'caller', message: 'cannot be used here' })
  if (errors.length > 0) throw invalidRequest(errors)
  search.conditions = [...search.conditions, ...given]
  const set = valuesOf(query, 'set')?.[0]
  if (set !== undefined) search.conditions = [...search.conditions, isInSet(projectId, set)]
  const silent = valuesOf(query, 'silent')?.[0]
  if (silent !== undefined) search.conditions = [...search.conditions, isSilent(silent === 'true')]
  const text = valuesOf(query, 'text')?.[0]
  if (text === undefined) return { search, foundBy: null, valueOrder }
  const { words, phrases: _, ...others } = search
  for (const [foundBy, condition] of await meaningsOf(db, projectId, text.trim())) {
    if (!(await isAnyFound(db, projectId, { conditions: [condition] }))) continue
    const conditions = [...others.conditions, condition]
    return { search: { ...others, conditions }, foundBy, valueOrder }
  }
  const whole = text.trim()
  const isIdOfLetters = idForm.test(whole) && !idStartForm.test(whole)
  if (isIdOfLetters && words && !(await isAnyFound(db, projectId, { conditions: [], words }))) {
    const conditions = [...others.conditions, hasId([whole])]
    if (await isAnyFound(db, projectId, { conditions }))
      return { search: { ...others, conditions }, foundBy: 'id', valueOrder }
  }
  return { search, foundBy: words ? 'words' : null, valueOrder }
}

async function isAnyFound(
  db: ReadDatabase,
  projectId: number,
  search: Pick<CallSearch, 'conditions' | 'words'>,
): Promise<boolean> {
  return (await new CallFinder(db, projectId, { ...search, order: newestFirst }).places(1)).length > 0
}

async function meaningsOf(
  db: ReadDatabase,
  projectId: number,
  text: string,
): Promise<[FoundBy, Condition][]> {
  const meanings: [FoundBy, Condition][] = []
  const digits = text.replace(/\D/g, '')
  if (numberForm.test(text) && digits.length >= digitsMin)
    meanings.push([
      'number',
      hasNumber(digits, text.startsWith('+') ? [] : [await callingCode(db, projectId)]),
    ])
  if (idForm.test(text) && idStartForm.test(text)) meanings.push(['id', beginsWithId(text)])
  if (traceIdForm.test(text)) meanings.push(['id', isOfTrace(projectId, text.toLowerCase())])
  return meanings
}

/** What numbers of the project's own country begin with. */
async function callingCode(db: ReadDatabase, projectId: number): Promise<string> {
  const [row] = await db
    .select({ country: projects.country })
    .from(projects)
    .where(eq(projects.id, projectId))
  if (!row?.country) return northAmerica
  // Loaded only when needed: the library takes 15 MB.
  const { callingCodeOf } = await import('../keeping/phone-number.ts')
  return callingCodeOf(row.country) ?? northAmerica
}
