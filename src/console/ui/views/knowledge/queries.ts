import {
  type InfiniteData,
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import type { ChunkFate } from '../../../../knowledge/chunking/chunk-changes.ts'
import type {
  IndexStatus,
  ItemDetails,
  KnowledgeRow,
  KnowledgeRows,
} from '../../../../knowledge/indexed-items.ts'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import type { ChunkPreview } from '../../../../knowledge/schemas.ts'
import type { ExplainedHit } from '../../../../knowledge/search/explain.ts'
import { ApiProblem, api, pathOf, read, readPages, unwrap } from '../../api.ts'
import { sentenceOf } from '../../components/field-errors.ts'
import { asBytes } from '../../components/figures.ts'
import { useProject } from '../../session.ts'

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

/** A document that is about to become an item. */
export interface Document {
  name: string
  description?: string
  text: string
  tags?: string[]
}

/** What to do where an item has the same text: ask, keep both, or put the document in that item's place. */
export type TwinAnswer = 'ask' | 'keep' | Pick<Twin, 'id' | 'changeSeq'>

/** The files that the service reads, as a sentence names them. */
export const readableFiles = '.md, .mdx, .rst, .txt, .html, .pdf, .docx or .csv'

/** Reads a file as a document; nothing is stored. @throws ApiProblem */
export async function readDocument(project: string, file: File): Promise<Document> {
  return await unwrap(api.projects({ project }).knowledge.read.post({ file })).catch((error) => {
    throw explainTooLarge(error, 'This file', file.size)
  })
}

/** Stores a document, or tells which item has its text. @throws ApiProblem */
export async function storeDocument(
  project: string,
  document: Document,
  twin: TwinAnswer = 'ask',
): Promise<ItemDetails | { twin: Twin }> {
  const { knowledge } = api.projects({ project })
  const { name, description = '', text, tags = [] } = document
  const stored =
    typeof twin === 'string'
      ? knowledge.post({ name, description, text, tags, keepsBoth: twin === 'keep' })
      : knowledge({ id: twin.id }).put({ name, description, text, tags, changeSeq: twin.changeSeq })
  return await unwrap<ItemDetails | { twin: Twin }>(stored).catch((error) => {
    throw explainTooLarge(error, 'The text', new Blob([text]).size)
  })
}

/** Why it failed, as a sentence. */
export function failureOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error)
  return error.fields.map(({ field, message }) => sentenceOf(field, message)).join('. ') || error.detail
}

/** The same error, in words for people where the API counts bytes for programs, or names types of files. */
function explainTooLarge(error: unknown, what: string, bytes: number): unknown {
  if (!(error instanceof ApiProblem)) return error
  const { status, code, requestId } = error
  const told = (title: string, detail: string) => new ApiProblem({ status, code, requestId, title, detail })
  if (code === 'payload_too_large')
    return told(
      'Too large',
      `${what} has ${asBytes(bytes)}, more than one item can hold. Split it into several.`,
    )
  if (code === 'unsupported_media_type')
    return told('Unknown kind of file', `This kind of file cannot be read. Use ${readableFiles}.`)
  return error
}
