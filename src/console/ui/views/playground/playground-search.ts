/** What the address says of this page, judged: what makes no sense is left out. */
export interface PlaygroundSearch {
  placeholder?: string
}

export function playgroundSearch(_search: Record<string, unknown>): PlaygroundSearch {
  return {}
}
