import { dataOfThread, serve } from '../../../threads/serve.ts'
import type { LocalModel } from './model-files.ts'

/** What this file uses of `@huggingface/transformers`, which is not a dependency: its types are not there. */
interface Transformers {
  env: { allowRemoteModels: boolean; allowLocalModels: boolean; logLevel: number }
  pipeline(task: 'feature-extraction', folder: string, options: object): Promise<Extractor>
}

interface Extractor {
  (texts: string[], options: object): Promise<{ data: Float32Array; dims: number[] }>
  tokenizer: { model_max_length?: number }
  model: { config: { max_position_embeddings?: number } }
  dispose(): Promise<unknown>
}

export interface ModelWorkerData {
  /** A URL of the package's module. */
  library: string
  folder: string
  pooling: NonNullable<LocalModel['pooling']>
}

const tokensMaxDefault = 512
const errorsOnly = 40

const { library, folder, pooling } = dataOfThread<ModelWorkerData>()
/** One thread of its own, which does not spin while it waits: the service needs the other cores. */
const sessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  extra: { session: { intra_op: { allow_spinning: '0' } } },
}
let loading: Promise<Extractor> | undefined

const api = {
  /** Loads the model. @returns the length of its vectors */
  async load(): Promise<number> {
    const { length } = await api.embed(' ')
    return length
  },

  /** A vector of unit length. What is longer than the model reads is cut off. */
  async embed(text: string): Promise<Float32Array> {
    loading ??= load()
    const extractor = await loading
    const { data } = await extractor([text], { pooling, normalize: true })
    return data
  },
}

export type ModelApi = typeof api

async function load(): Promise<Extractor> {
  const module: Transformers & { default?: Transformers } = await import(library)
  const { env, pipeline } = module.default ?? module
  // All files are in the folder: nothing is ever fetched from here.
  env.allowRemoteModels = false
  env.allowLocalModels = true
  env.logLevel = errorsOnly
  const options = { dtype: 'fp32', device: 'cpu', local_files_only: true, session_options: sessionOptions }
  const extractor = await pipeline('feature-extraction', folder, options)
  const { tokenizer, model } = extractor
  // Some tokenizers name no limit, and the model fails beyond its own.
  const limits = [tokenizer.model_max_length, model.config.max_position_embeddings ?? tokensMaxDefault]
  const tokensMax = Math.min(...limits.filter((limit) => limit !== undefined))
  Object.defineProperty(tokenizer, 'model_max_length', { value: tokensMax })
  return extractor
}

// Without disposing of it, the native session would be freed while the thread's runtime ends.
serve(api, { close: async () => (await loading?.catch(() => null))?.dispose() })
