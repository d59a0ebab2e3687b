import { dataOfThread, sendEvent, serve } from '../../../threads/serve.ts'
import type { LocalModel } from './model-folder.ts'

/**
 * The part of `@huggingface/transformers` that is used here. The package is not a dependency, so there are no types.
 */
interface Transformers {
  env: object
  pipeline(task: 'feature-extraction', model: string, options: object): Promise<Extractor>
  ModelRegistry: { get_file_metadata(model: string, name: string): Promise<{ exists: boolean }> }
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
}

/** The model to load, and how one vector is made of those of its tokens. */
export interface LoadedModel {
  folder: string
  pooling: NonNullable<LocalModel['pooling']>
}

/** How far a download is, in bytes. */
export interface ModelProgress {
  loaded: number
  total: number
}

const tokensMaxDefault = 512
const errorsOnly = 40
const options = {
  dtype: 'fp32',
  device: 'cpu',
  /** One thread, which does not spin while it waits: the service needs the other cores. */
  session_options: {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  },
}
let loading: Promise<Extractor> | undefined

const api = {
  /** Downloads a model by its id into its folder below `cacheDir`, file by file. */
  async download(model: string, hub: string, cacheDir: string): Promise<void> {
    const { pipeline, ModelRegistry } = await openLibrary({ remoteHost: hub, cacheDir })
    const { exists } = await ModelRegistry.get_file_metadata(model, 'onnx/model.onnx_data')
    const progress_callback = ({ status, ...progress }: ModelProgress & { status: string }) => {
      if (status === 'progress_total') sendEvent(progress)
    }
    const more = { use_external_data_format: exists, progress_callback }
    await (await pipeline('feature-extraction', model, { ...options, ...more })).dispose()
  },

  /** A vector of unit length. The end of a text that is too long for the model is cut off. */
  async embed(text: string, { folder, pooling }: LoadedModel): Promise<Float32Array> {
    loading ??= load(folder)
    const extractor = await loading
    const { data } = await extractor([text], { pooling, normalize: true })
    return data
  },
}

export type ModelApi = typeof api

async function load(folder: string): Promise<Extractor> {
  // All files are in the folder.
  const { pipeline } = await openLibrary({ allowRemoteModels: false })
  const extractor = await pipeline('feature-extraction', folder, options)
  const { tokenizer, model } = extractor
  // Some tokenizers have no limit, and the model fails beyond its own.
  const limits = [tokenizer.model_max_length, model.config.max_position_embeddings ?? tokensMaxDefault]
  const tokensMax = Math.min(...limits.filter((limit) => limit !== undefined))
  Object.defineProperty(tokenizer, 'model_max_length', { value: tokensMax })
  return extractor
}

async function openLibrary(settings: object): Promise<Transformers> {
  const { library } = dataOfThread<ModelWorkerData>()
  const module: Transformers & { default?: Transformers } = await import(library)
  const transformers = module.default ?? module
  // Deno has the cache of browsers, too.
  Object.assign(transformers.env, {
    allowLocalModels: true,
    useBrowserCache: false,
    logLevel: errorsOnly,
    ...settings,
  })
  return transformers
}

// Without this, the native session would be freed while the thread's runtime ends.
serve(api, { close: async () => (await loading?.catch(() => null))?.dispose() })
