import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { knowledgeKeys } from '../../query-keys.ts'
import { type Document, failureOf, readDocument, storeDocument, type TwinAnswer } from './documents.ts'

/** A file that is becoming an item. */
export interface Upload {
  key: number
  fileName: string
  state: 'waiting' | 'saving' | 'saved' | 'asked' | 'failed'
  /** The item it became. */
  itemId: string | null
  /** While it is `asked`: the item that has the same text, and what was read. */
  asked: { twin: Twin; document: Document } | null
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

  const save = async (key: number, read: () => Promise<Document>, twin: TwinAnswer = 'ask') => {
    change(key, { state: 'saving', asked: null })
    try {
      const document = await read()
      const stored = await storeDocument(project, document, twin)
      if ('twin' in stored) change(key, { state: 'asked', asked: { twin: stored.twin, document } })
      else change(key, { state: 'saved', itemId: stored.id })
    } catch (error) {
      change(key, { state: 'failed', error: failureOf(error) })
    }
    await queryClient.invalidateQueries({ queryKey: knowledgeKeys.items(project) })
  }

  const start = async (sources: readonly { fileName: string; document: () => Promise<Document> }[]) => {
    const queue = sources.map((source) => ({ ...source, key: ++lastKey.current }))
    setUploads((all) => [
      ...queue.map(({ key, fileName }): Upload => {
        return { key, fileName, state: 'waiting', itemId: null, asked: null, error: null }
      }),
      ...all,
    ])
    for (const { key, document } of queue) await save(key, document)
  }

  return {
    uploads,
    addFiles: (files: readonly File[]) =>
      start(files.map((file) => ({ fileName: file.name, document: () => readDocument(project, file) }))),
    addDocuments: (documents: readonly Document[]) =>
      start(documents.map((document) => ({ fileName: document.name, document: async () => document }))),
    /** Stores a file that waits for an answer. */
    answer: ({ key, asked }: Upload, twin: TwinAnswer) =>
      asked ? save(key, async () => asked.document, twin) : undefined,
    clear: () => setUploads([]),
  }
}
