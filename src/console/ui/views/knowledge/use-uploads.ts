import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiProblem, api, unwrap } from '../../api.ts'
import { knowledgeKeys } from '../../query-keys.ts'
import { type Document, readDocument } from './documents.ts'

/** A file that is becoming an item. */
export interface Upload {
  key: number
  fileName: string
  state: 'waiting' | 'saving' | 'saved' | 'failed'
  /** The item it became. */
  itemId: string | null
  /** Why it failed, as a sentence. */
  error: string | null
}

/** Saves files as items, one after the other, as they are read. One failure does not stop the others. */
export function useUploads(project: string) {
  const queryClient = useQueryClient()
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const lastKey = useRef(0)

  const change = (key: number, values: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...values } : upload)))

  const save = async (key: number, document: () => Promise<Document>) => {
    change(key, { state: 'saving' })
    try {
      const item = await unwrap(api.projects({ project }).knowledge.post(await document()))
      change(key, { state: 'saved', itemId: item.id })
    } catch (error) {
      change(key, { state: 'failed', error: sentenceOf(error) })
    }
  }

  const start = async (sources: readonly { fileName: string; document: () => Promise<Document> }[]) => {
    const queue = sources.map((source) => ({ ...source, key: ++lastKey.current }))
    setUploads((all) => [
      ...queue.map(({ key, fileName }): Upload => {
        return { key, fileName, state: 'waiting', itemId: null, error: null }
      }),
      ...all,
    ])
    for (const { key, document } of queue) {
      await save(key, document)
      await queryClient.invalidateQueries({ queryKey: knowledgeKeys.items(project) })
    }
  }

  return {
    uploads,
    addFiles: (files: readonly File[]) =>
      start(files.map((file) => ({ fileName: file.name, document: () => readDocument(project, file) }))),
    addDocuments: (documents: readonly Document[]) =>
      start(documents.map((document) => ({ fileName: document.name, document: async () => document }))),
    clear: () => setUploads([]),
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof ApiProblem) {
    return error.fields.map(({ field, message }) => `${field} ${message}`).join('; ') || error.detail
  }
  return error instanceof Error ? error.message : String(error)
}
