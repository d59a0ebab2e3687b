/** What the playground's address may say; anything else in it is left out. */
export interface PlaygroundSearch {
  q?: string | undefined
  mode?: 'vector' | 'keyword' | undefined
  limit?: number | undefined
  timeoutMs?: number | undefined
  items?: string[] | undefined
}

export function playgroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const { q, mode, limit, timeoutMs, items } = search
  return {
    q: typeof q === 'string' || typeof q === 'number' ? String(q) : undefined,
    mode: mode === 'vector' || mode === 'keyword' ? mode : undefined,
    limit: integerWithin(limit, 1, 50),
    timeoutMs: integerWithin(timeoutMs, 10, 10_000),
    items: Array.isArray(items) ? items.filter((id) => typeof id === 'string') : undefined,
  }
}

function integerWithin(value: unknown, min: number, max: number): number | undefined {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined
}
