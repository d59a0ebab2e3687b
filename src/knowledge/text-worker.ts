import { answerRequests } from '../work-thread.ts'
import { toChunkRows } from './chunking/chunk-rows.ts'
import { createBuiltinEmbedder } from './embedding/builtin.ts'

/** Work on long texts, on a thread of its own: see text-work.ts. */
export type TextRequest =
  | { method: 'toChunkRows'; text: string }
  | { method: 'embed'; texts: readonly string[] }

const embedder = createBuiltinEmbedder()
const never = new AbortController().signal

answerRequests((request: TextRequest) =>
  request.method === 'toChunkRows'
    ? toChunkRows(request.text)
    : embedder.embed(request.texts, 'document', never),
)
