import { lowerPriority } from '../../threads/priority.ts'
import { dataOfThread, serve } from '../../threads/serve.ts'
import { createBuiltinEmbedder } from '../embedding/builtin.ts'
import { toChunkRows } from './chunk-rows.ts'

const { niceness } = dataOfThread<{ niceness: number }>()
if (niceness > 0) lowerPriority(niceness)
const embedder = createBuiltinEmbedder()
const never = new AbortController().signal

const api = {
  toChunkRows,
  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return embedder.embed(texts, 'document', never)
  },
}

export type TextApi = typeof api

serve(api)
