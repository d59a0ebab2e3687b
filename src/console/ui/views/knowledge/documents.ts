import type { ItemDetails } from '../../../../knowledge/indexed-items.ts'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { sentenceOf } from '../../components/field-sentence.ts'
import { asBytes } from '../../components/figures.ts'

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
export function explainTooLarge(error: unknown, what: string, bytes: number): unknown {
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
