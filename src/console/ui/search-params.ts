/** `?status=live&text=moved` as plain strings, and lists of what is repeated; a route's `validateSearch` interprets them. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const params = new URLSearchParams(search)
  return Object.fromEntries(
    [...params.keys()].map((name) => {
      const values = params.getAll(name)
      return [name, values.length > 1 ? values : (values[0] ?? '')]
    }),
  )
}

/** The reverse; empty, undefined and null values are left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).flatMap(([name, values]) =>
    [values]
      .flat()
      .flatMap((value): [string, string][] =>
        value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
      ),
  )
  const text = new URLSearchParams(kept).toString()
  return text && `?${text}`
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
