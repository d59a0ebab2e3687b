import { takesSeveral } from '../../calls/filters.ts'
import { isTag, tagsMax, toTags } from '../../text/tags.ts'
import { escapeValue, splitValues } from '../../text/values.ts'

/**
 * `?status=live&text=moved` as plain strings, and lists of several values; a route's `validateSearch` interprets them.
 * Filters of calls are written as the API takes them.
 */
export function parseSearch(search: string): Record<string, string | string[]> {
  const params = new URLSearchParams(search)
  return Object.fromEntries(
    [...params.keys()].map((name) => {
      const texts = params.getAll(name)
      const values = takesSeveral(name) ? texts.flatMap(splitValues) : texts
      return [name, values.length > 1 ? values : (values[0] ?? '')]
    }),
  )
}

/** The reverse; empty, undefined and null values are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(toQuery(search)).flatMap(([name, texts]) =>
    texts.map((text): [string, string] => [name, text]),
  )
  const text = new URLSearchParams(pairs).toString()
  return text && `?${text}`
}

/** The same for a request to the API. */
export function toQuery(search: object): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(search).map(([name, values]) => [
      name,
      [values]
        .flat()
        .flatMap((value) => (value === undefined || value === null || value === '' ? [] : String(value)))
        .map((text) => (takesSeveral(name) ? escapeValue(text) : text)),
    ]),
  )
}

/** A parameter of at most 500 characters; undefined for any other value. */
export function textParam(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 500 ? value : undefined
}

/** One of the given words; undefined for any other value. */
export function wordParam<Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value)
}

/** A whole number within limits; undefined for any other value. */
export function wholeParam(value: unknown, { min, max }: { min: number; max: number }): number | undefined {
  const number = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value
  return typeof number === 'number' && number >= min && number <= max ? number : undefined
}

/** Tags as in the address, `billing,eu`, or as a link within the console passes them. */
export function tagsParam(value: unknown): string[] | undefined {
  const texts: unknown[] = Array.isArray(value) ? value : String(value ?? '').split(',')
  const tags = texts.flatMap((text) => (typeof text === 'string' && isTag(text) ? [text] : []))
  return tags.length > 0 ? toTags(tags).slice(0, tagsMax) : undefined
}
