import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SingleBar } from 'cli-progress'
import { type Config, ConfigError } from '../config.ts'
import type { Embedder } from '../knowledge/embedding/embedder.ts'
import { LocalEmbedder } from '../knowledge/embedding/local/local.ts'
import { downloadModel } from '../knowledge/embedding/local/model-download.ts'
import {
  type LocalModel,
  ModelError,
  readModel,
  readRecord,
} from '../knowledge/embedding/local/model-files.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'

/** The user adds it: its packages have 474 MB. */
const library = '@huggingface/transformers'
const hub = 'https://huggingface.co'

interface LocalEmbedderParts {
  config: Pick<Config, 'dataDir' | 'embedding'>
  metrics: Pick<Metrics, 'observeEmbedding'>
  log: Pick<Log, 'info'>
  /** A command loads the model only if it embeds. */
  role: 'service' | 'command'
}

/** The model of EMBEDDING_MODEL in this process. @throws ConfigError saying what is missing */
export async function openLocalEmbedder(
  parts: LocalEmbedderParts,
): Promise<Embedder & { close(): Promise<void> }> {
  const { config, metrics, role } = parts
  const module = findLibrary()
  try {
    const { name, model } = await findModel(parts)
    const observe = metrics.observeEmbedding.bind(metrics)
    const embedder = new LocalEmbedder({ name, model, library: module, observe })
    if (role === 'service') await embedder.load().catch((error) => refuseModel(embedder, config, error))
    return embedder
  } catch (error) {
    throw error instanceof ModelError ? refusal(error.message) : error
  }
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
  throw refusal(`the package ${library} is not installed. Run: bun add ${library}`)
}

async function findModel({ config, log }: LocalEmbedderParts): Promise<{ name: string; model: LocalModel }> {
  const { model, token } = config.embedding
  if (isFolder(model)) {
    const folder = resolve(model)
    if (!existsSync(folder) || !statSync(folder).isDirectory()) throw refusal(`there is no folder ${folder}`)
    const name = basename(folder).replace(/^[^\w]+|[^\w.-]/g, '') || 'model'
    return { name, model: await readModel(folder, await readRecord(folder)) }
  }
  const folder = join(config.dataDir, 'models', model.replace('/', '--'))
  let record = await readRecord(folder)
  if (!record) {
    if (existsSync(folder))
      throw refusal(`${folder} holds files that this service has not downloaded. Delete it.`)
    const progress = startProgress(log, model)
    await downloadModel({ model, folder, hub, token, onProgress: progress.update }).finally(progress.stop)
    record = await readRecord(folder)
  }
  return { name: model, model: await readModel(folder, record) }
}

/** A path is absolute or begins with a dot; anything else is the id of a model on the hub. */
function isFolder(model: string): boolean {
  return /^(?:\.|\/|[A-Za-z]:[\\/])/.test(model)
}

/** A bar on a terminal, else two lines of the log. */
function startProgress(log: Pick<Log, 'info'>, model: string) {
  log.info({ model, hub }, 'Downloading the embedding model')
  const isTerminal = process.stderr.isTTY === true
  const format = `Downloading ${model} {bar} {percentage}% · {eta_formatted} left`
  const bar = new SingleBar({ stream: process.stderr, format, clearOnComplete: true })
  if (isTerminal) bar.start(1, 0)
  return {
    update(done: number, all: number) {
      bar.setTotal(all)
      if (isTerminal) bar.update(done)
    },
    stop() {
      if (isTerminal) bar.stop()
      log.info({ model }, 'The embedding model was downloaded')
    },
  }
}

async function refuseModel(
  embedder: LocalEmbedder,
  { embedding }: Pick<Config, 'embedding'>,
  error: unknown,
): Promise<never> {
  await embedder.close()
  throw refusal(
    `the model ${embedding.model} cannot be loaded: ${error instanceof Error ? error.message : error}`,
  )
}

function refusal(why: string): ConfigError {
  return new ConfigError([`EMBEDDING_PROVIDER is local, but ${why[0]?.toLowerCase()}${why.slice(1)}`])
}
