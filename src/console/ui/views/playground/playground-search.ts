import { tagsParam, wholeParam, wordParam } from '../../search-params.ts'

/** More would make the address too long to share. */
export const itemsMax = 100

/** The playground's parameters in the address; invalid ones are left out. */
interface PlaygroundSearch {
  q?: string | undefined
  mode?: 'vector' | 'keyword' | undefined
  limit?: number | undefined
  timeoutMs?: number | undefined
  items?: string[] | undefined
  tags?: string[] | undefined
}

export function playgroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const { q, mode, limit, timeoutMs, items, tags } = search
  return {
    q: typeof q === 'string' ? q : undefined,
    mode: wordParam(mode, ['vector', 'keyword']),
    limit: wholeParam(limit, { min: 1, max: 50 }),
    timeoutMs: wholeParam(timeoutMs, { min: 10, max: 10_000 }),
    items: idsOf(items),
    tags: tagsParam(tags),
  }
}

const itemIdPattern = /^[A-Za-z0-9._-]{1,128}$/

/** Item ids as in the address, `kn_1,kn_2`, or as a link within the console passes them. */
function idsOf(items: unknown): string[] | undefined {
  const ids = (Array.isArray(items) ? items : String(items ?? '').split(',')).filter(
    (id) => typeof id === 'string' && itemIdPattern.test(id),
  )
  return ids.length > 0 ? ids.slice(0, itemsMax) : undefined
}
