/** What the address says of this page, judged: what makes no sense is left out. */
export interface KnowledgeSearch {
  placeholder?: string
}

export function knowledgeSearch(_search: Record<string, unknown>): KnowledgeSearch {
  return {}
}
