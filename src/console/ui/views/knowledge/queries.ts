import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
} from '@tanstack/react-query'
import type { ChunkFate } from '../../../../knowledge/chunking/chunk-changes.ts'
import type { IndexStatus, KnowledgeRow, KnowledgeRows } from '../../../../knowledge/indexed-items.ts'
import type { ChunkPreview } from '../../../../knowledge/schemas.ts'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { api, unwrap } from '../../api.ts'
import { knowledgeKeys, questionKeys } from '../../query-keys.ts'
import { inWords } from './documents.ts'

/** How often a list is reloaded while items are being indexed. */
const indexingPollMs = 1_500
const itemsPerPage = '50'
/** As many as one search returns. */
export const passagesMax = 50

/** The project's items whose names contain this, newest first, in pages; reloaded while some are being indexed. */
export function itemsQuery(project: string, name = '') {
  return infiniteQueryOptions({
    queryKey: knowledgeKeys.items(project, name),
    queryFn: ({ pageParam }) =>
      unwrap(
        api.projects({ project }).knowledge.get({
          query: { limit: itemsPerPage, name, ...(pageParam ? { cursor: pageParam } : {}) },
        }),
      ),
    initialPageParam: '',
    placeholderData: keepPreviousData,
    getNextPageParam: (last: KnowledgeRows) => last.nextCursor ?? undefined,
    refetchInterval: ({ state }) => (rowsOf(state.data).some(isUnderWay) ? indexingPollMs : false),
  })
}

/** The items with the most of these words in their texts, each with its best passage. */
export function textHitsQuery(project: string, words: string) {
  return queryOptions({
    queryKey: knowledgeKeys.textHits(project, words),
    queryFn: async (): Promise<{ passages: number; items: ExplainedHit[] }> => {
      const request = { query: words, mode: 'keyword' as const, limit: passagesMax }
      const { data } = await unwrap(api.projects({ project }).knowledge.search.post(request))
      const most = Math.max(0, ...data.map(({ terms }) => terms.length))
      const best = data.filter(({ terms }) => terms.length === most)
      const items = new Map<string, ExplainedHit>()
      for (const hit of best) if (!items.has(hit.itemId)) items.set(hit.itemId, hit)
      return { passages: data.length, items: [...items.values()] }
    },
    placeholderData: keepPreviousData,
  })
}

/** How many questions of agents each item answered first, where the project keeps questions. */
export function timesFoundQuery(project: string) {
  return queryOptions({
    queryKey: questionKeys.timesFound(project),
    queryFn: () => unwrap(api.projects({ project }).questions['times-found'].get()),
  })
}

export function itemQuery(project: string, id: string) {
  return queryOptions({
    queryKey: knowledgeKeys.item(project, id),
    queryFn: () => unwrap(api.projects({ project }).knowledge({ id }).get()),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? indexingPollMs : false),
  })
}

export function chunksQuery(project: string, id: string) {
  return queryOptions({
    queryKey: knowledgeKeys.chunks(project, id),
    queryFn: () => unwrap(api.projects({ project }).knowledge({ id }).chunks.get()),
  })
}

/**
 * The chunks as they would be stored; the previous ones stay until the next have loaded.
 * @param edited the item that the text is to replace that of
 */
export function previewQuery(project: string, text: string, edited?: Edited) {
  const { knowledge } = api.projects({ project })
  return queryOptions({
    queryKey: knowledgeKeys.preview(project, text, edited),
    queryFn: async (): Promise<TextPreview> => {
      const asked = edited
        ? knowledge({ id: edited.id }).preview.post({ name: edited.name, text })
        : knowledge.preview.post({ text })
      return await unwrap<TextPreview>(asked).catch((error) => {
        throw inWords(error, 'The text', new Blob([text]).size)
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
