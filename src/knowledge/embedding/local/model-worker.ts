import { dataOfThread, serve } from '../../../threads/serve.ts'
import type { LocalModel } from './model-files.ts'

/**
 * The part of `@huggingface/transformers` that is used here. The package is not a dependency, so there are no types.
 */
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
  /** The URL of the package's module. */
  library: string
  folder: string
  pooling: NonNullable<LocalModel['pooling']>
}

const tokensMaxDefault = 512
const errorsOnly = 40

const { library, folder, pooling } = dataOfThread<ModelWorkerData>()
/** One thread, which does not spin while it waits: the service needs the other cores. */
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

  /** A vector of unit length. The end of a text that is too long for the model is cut off. */
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
  // Never downloads: all files are in the folder.
  env.allowRemoteModels = false
  env.allowLocalModels = true
  env.logLevel = errorsOnly
  const options = { dtype: 'fp32', device: 'cpu', local_files_only: true, session_options: sessionOptions }
  const extractor = await pipeline('feature-extraction', folder, options)
  const { tokenizer, model } = extractor
  // Some tokenizers have no limit, and the model fails beyond its own.
  const limits = [tokenizer.model_max_length, model.config.max_position_embeddings ?? tokensMaxDefault]
  const tokensMax = Math.min(...limits.filter((limit) => limit !== undefined))
  Object.defineProperty(tokenizer, 'model_max_length', { value: tokensMax })
  return extractor
}

// Without this, the native session would be freed while the thread's runtime ends.
serve(api, { close: async () => (await loading?.catch(() => null))?.dispose() })
