import { textParam } from '../../search-params.ts'

/** The parameters of the list of items. */
interface KnowledgeSearch {
  /** Part of an item's name. */
  name?: string | undefined
}

export function knowledgeSearch({ name }: Record<string, unknown>): KnowledgeSearch {
  return { name: textParam(name)?.trim() || undefined }
}
