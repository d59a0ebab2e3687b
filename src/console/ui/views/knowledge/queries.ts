import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
} from '@tanstack/react-query'
import type { ChunkFate } from '../../../../knowledge/chunking/chunk-changes.ts'
import type { IndexStatus, KnowledgeRow, KnowledgeRows } from '../../../../knowledge/indexed-items.ts'
import type { ChunkPreview } from '../../../../knowledge/schemas.ts'
import { api, unwrap } from '../../api.ts'
import { knowledgeKeys } from '../../query-keys.ts'

/** How often a list is reloaded while items are being indexed. */
const indexingPollMs = 1_500
const itemsPerPage = '50'

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
    queryFn: async (): Promise<TextPreview> =>
      edited
        ? await unwrap(knowledge({ id: edited.id }).preview.post({ name: edited.name, text }))
        : await unwrap(knowledge.preview.post({ text })),
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
