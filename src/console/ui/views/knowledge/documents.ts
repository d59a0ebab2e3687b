import { api, unwrap } from '../../api.ts'

/** A document that is about to become an item. */
export interface Document {
  name: string
  description?: string
  text: string
}

/** The files that the service reads, as a sentence names them. */
export const readableFiles = '.md, .mdx, .rst, .txt, .html, .pdf, .docx or .csv'

/** Reads a file as a document; nothing is stored. @throws ApiProblem */
export async function readDocument(project: string, file: File): Promise<Document> {
  return await unwrap(api.projects({ project }).knowledge.read.post({ file }))
}
