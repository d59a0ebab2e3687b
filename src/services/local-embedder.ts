import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SingleBar } from 'cli-progress'
import { type Config, ConfigError } from '../config.ts'
import type { Embedder } from '../knowledge/embedding/embedder.ts'
import { downloadModel, LocalEmbedder } from '../knowledge/embedding/local/local.ts'
import { downloadDescriptions, isComplete, readModel } from '../knowledge/embedding/local/model-folder.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'

/** The user adds it: its packages have 474 MB. */
const library = '@huggingface/transformers'

interface LocalEmbedderParts {
  config: Pick<Config, 'dataDir' | 'embedding'>
  metrics: Pick<Metrics, 'observeEmbedding'>
  log: Pick<Log, 'info'>
  /** A command loads the model only if it embeds. */
  role: 'service' | 'command'
  hub?: string
}

/** The model of EMBEDDING_MODEL in this process. @throws ConfigError saying what is missing */
export async function openLocalEmbedder(
  parts: LocalEmbedderParts,
): Promise<Embedder & { close(): Promise<void> }> {
  const module = findLibrary()
  const { name, folder } = await findModel(parts, module)
  const model = await readModel(folder).catch((error) => refuse(error.message))
  const observe = parts.metrics.observeEmbedding.bind(parts.metrics)
  const embedder = new LocalEmbedder({ name, model, library: module, observe })
  if (parts.role === 'command') return embedder
  return await embedder.load().then(
    () => embedder,
    async (error) => {
      await embedder.close()
      return refuse(
        `the model in ${folder} cannot be loaded: ${reasonOf(error)}. If it was downloaded, delete that folder to download it again`,
      )
    },
  )
}

/** A URL of the package's module. It may stand beside the service, or in the folder that it is started in. */
function findLibrary(): string {
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return pathToFileURL(createRequire(from).resolve(library)).href
    } catch {
      // It is not there; the next place may have it.
    }
  }
  return refuse(`the package ${library} is not installed. Run: bun add ${library}`)
}

async function findModel(
  parts: LocalEmbedderParts,
  module: string,
): Promise<{ name: string; folder: string }> {
  const { model } = parts.config.embedding
  // A path is absolute or begins with a dot; anything else is the id of a model on the hub.
  if (/^(?:\.|\/|[A-Za-z]:[\\/])/.test(model)) {
    const folder = resolve(model)
    return { name: basename(folder).replace(/^[^\w]+|[^\w.-]/g, '') || 'model', folder }
  }
  const cacheDir = join(parts.config.dataDir, 'models')
  // Version 1.0.0-rc.1 downloaded it to the second one.
  const folders = [join(cacheDir, model), join(cacheDir, model.replace('/', '--'))]
  const folder = folders.find(isComplete) ?? (await download(parts, module, cacheDir))
  return { name: model, folder }
}

async function download(parts: LocalEmbedderParts, module: string, cacheDir: string): Promise<string> {
  const { config, log, hub = 'https://huggingface.co' } = parts
  const { model, token } = config.embedding
  const folder = join(cacheDir, model)
  const format = `Downloading ${model} {bar} {percentage}% · {eta_formatted} left`
  const bar = new SingleBar({ stream: process.stderr, format, clearOnComplete: true })
  const onProgress = ({ loaded, total }: { loaded: number; total: number }) => {
    bar.setTotal(total)
    bar.update(loaded)
  }
  log.info({ model, hub }, 'Downloading the embedding model')
  // It shows nothing where there is no terminal.
  bar.start(1, 0)
  try {
    // A download that was ended may have left a part of the model there.
    await rm(join(folder, 'onnx'), { recursive: true, force: true })
    await downloadDescriptions(`${hub}/${model}`, folder, token)
    await downloadModel({ model, library: module, hub, cacheDir, onProgress })
  } catch (error) {
    // Of a large model's files the library leaves a failure unhandled, which ends the thread.
    const { cause = error } = Object(error)
    return refuse(
      `the model ${model} could not be downloaded from ${hub}: ${reasonOf(cause)}. Check EMBEDDING_MODEL and, if the model is gated or private, HF_TOKEN, and try again, or put its files into a folder and name that in EMBEDDING_MODEL`,
    )
  } finally {
    bar.stop()
  }
  log.info({ model }, 'The embedding model was downloaded')
  return folder
}

function refuse(why: string): never {
  throw new ConfigError([`EMBEDDING_PROVIDER is local, but ${why}`])
}

function reasonOf(error: unknown): string {
  return String(Object(error).message ?? error).replace(/\.$/, '')
}
