import {
  type InfiniteData,
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import type { ChunkFate } from '../../../../knowledge/chunking/chunk-changes.ts'
import type { IndexStatus, KnowledgeRow, KnowledgeRows } from '../../../../knowledge/indexed-items.ts'
import type { ChunkPreview } from '../../../../knowledge/schemas.ts'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { api, pathOf, read, readPages, unwrap } from '../../api.ts'
import { useProject } from '../../session.ts'
import { explainTooLarge } from './documents.ts'

/** How often a list is reloaded while items are being indexed. */
const indexingPollMs = 1_500
const itemsPerPage = '50'
/** As many as one search returns. */
export const passagesMax = 50
/** The service counts how often this many items were found, the most often found first. */
const countedMax = 200

/** The project's items whose names contain this, with one of these tags, newest first, in pages; reloaded while some are being indexed. */
export function useItems(name = '', tags: readonly string[] = []) {
  const { of } = useProject()
  return useInfiniteQuery({
    ...readPages(of.knowledge, {
      limit: itemsPerPage,
      name,
      ...(tags.length > 0 && { tags: tags.join(' ') }),
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (rowsOf(state.data).some(isUnderWay) ? indexingPollMs : false),
  })
}

/** The items with the most of these words in their texts, each with its best passage. */
export function useTextHits(words: string) {
  const { knowledge } = useProject().of
  return useQuery({
    queryKey: [...pathOf(knowledge), 'pages', 'text hits', words],
    queryFn: async (): Promise<{ passages: number; items: ExplainedHit[] }> => {
      const { data } = await unwrap(
        knowledge.search.post({ query: words, mode: 'keyword', limit: passagesMax }),
      )
      const most = Math.max(0, ...data.map(({ terms }) => terms.length))
      const best = data.filter(({ terms }) => terms.length === most)
      const items = new Map<string, ExplainedHit>()
      for (const hit of best) if (!items.has(hit.itemId)) items.set(hit.itemId, hit)
      return { passages: data.length, items: [...items.values()] }
    },
    placeholderData: keepPreviousData,
  })
}

/** How often agents found each item; null where the project keeps no questions, and until it is known. */
export function useTimesFound() {
  const found = useQuery(read(useProject().of.questions['times-found'])).data?.data
  if (!found) return null
  const counts = new Map(found.items.map(({ id, count }) => [id, count]))
  const isWhole = counts.size < countedMax
  return { days: found.days, of: (id: string) => counts.get(id) ?? (isWhole ? 0 : null) }
}

/** An item, read again while it is being indexed. */
export function useItem(id: string) {
  return useQuery({
    ...read(useProject().of.knowledge({ id })),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? indexingPollMs : false),
  })
}

/**
 * The chunks as they would be stored; the previous ones stay until the next have loaded.
 * @param edited the item that the text is to replace that of
 */
export function previewQuery(project: string, text: string, edited?: Edited) {
  const { knowledge } = api.projects({ project })
  return queryOptions({
    queryKey: ['preview', project, text, edited],
    queryFn: async (): Promise<TextPreview> => {
      const preview = edited
        ? knowledge({ id: edited.id }).preview.post({ name: edited.name, text })
        : knowledge.preview.post({ text })
      return await unwrap<TextPreview>(preview).catch((error) => {
        throw explainTooLarge(error, 'The text', new Blob([text]).size)
      })
    },
    enabled: text.trim() !== '' && edited?.name.trim() !== '',
    placeholderData: (shown) => shown,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
}

/** An item that is being edited, and the name that it is to have. */
export interface Edited {
  id: string
  name: string
  /** Of the stored item that the text is compared with. */
  changeSeq: number
}

/** For an edited item, what becomes of its chunks. */
interface TextPreview {
  data: (ChunkPreview & { change?: ChunkFate })[]
  removed?: number
}

export function rowsOf(data: InfiniteData<KnowledgeRows> | undefined): KnowledgeRow[] {
  return data?.pages.flatMap((page) => page.data) ?? []
}

function isUnderWay({ status }: { status: IndexStatus }): boolean {
  return status.state !== 'ready'
}
