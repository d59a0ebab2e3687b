import { textParam } from '../../search-params.ts'

/** The parameters of the list of items. */
interface KnowledgeSearch {
  /** Part of an item's name, or words of its text. */
  find?: string | undefined
}

export function knowledgeSearch({ find }: Record<string, unknown>): KnowledgeSearch {
  return { find: textParam(find)?.trim() || undefined }
}
