import { textParam } from '../../search-params.ts'

/** What the address says of the list of items. */
export interface KnowledgeSearch {
  /** A part of the items' names. */
  name?: string | undefined
}

export function knowledgeSearch({ name }: Record<string, unknown>): KnowledgeSearch {
  return { name: textParam(name)?.trim() || undefined }
}
