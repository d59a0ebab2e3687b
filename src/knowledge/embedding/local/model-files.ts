import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Pooling } from '../models.ts'

/** A model's files by their paths on the hub: required and optional ones. */
export const modelFiles = {
  needed: ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'onnx/model.onnx'],
  optional: ['onnx/model.onnx_data', '1_Pooling/config.json', 'modules.json'],
} as const

/** Lists the downloaded files and their digests. It is written last, so a download without it is incomplete. */
export const recordFile = 'callbook-model.json'

/** The digest of each file, SHA-256 in hex, by its name. */
type Digests = Readonly<Record<string, string>>

/** Why a model cannot be used, as a sentence that says what to do. */
export class ModelError extends Error {
  override readonly name = 'ModelError'
}

/** A model in a folder, ready to be loaded. */
export interface LocalModel {
  /** Absolute. */
  folder: string
  /** Covers all of its files. */
  digest: string
  /** From the model's `1_Pooling/config.json`; null if it has none. */
  pooling: Pooling | 'last_token' | null
}

/** @throws ModelError if a file is missing, is not the downloaded one, or needs what is not supported */
export async function readModel(folder: string, recorded: Digests | null): Promise<LocalModel> {
  const missing = modelFiles.needed.filter((name) => !existsSync(join(folder, name)))
  if (missing.length > 0) throw new ModelError(`The model in ${folder} has no ${missing.join(', ')}.`)
  const names = [...modelFiles.needed, ...modelFiles.optional].filter((name) =>
    existsSync(join(folder, name)),
  )
  const all = createHash('sha256')
  for (const name of names) {
    const digest = await digestOf(join(folder, name))
    if (recorded && recorded[name] !== digest) throw changed(folder, name)
    all.update(`${name}\n${digest}\n`)
  }
  const gone = Object.keys(recorded ?? {}).find((name) => !existsSync(join(folder, name)))
  if (gone) throw changed(folder, gone)
  await refuseFurtherLayers(folder)
  return { folder, digest: all.digest('hex'), pooling: await readPooling(folder) }
}

/** The digests of the files downloaded into the folder; null if no download was completed. */
export async function readRecord(folder: string): Promise<Digests | null> {
  const record = await readJson(join(folder, recordFile))
  return record ? (record.files as Digests) : null
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1_048_576 }), hash)
  return hash.digest('hex')
}

/** https://sbert.net/docs/package_reference/sentence_transformer/models.html#sentence_transformers.models.Pooling */
async function readPooling(folder: string): Promise<LocalModel['pooling']> {
  const config = await readJson(join(folder, '1_Pooling', 'config.json'))
  if (!config) return null
  const named = typeof config.pooling_mode === 'string' ? [config.pooling_mode] : []
  const flags = Object.keys(config).filter(
    (name) => name.startsWith('pooling_mode_') && config[name] === true,
  )
  const modes = [...named, ...flags.map((name) => name.replace('pooling_mode_', ''))]
  const [mode = ''] = modes
  const known = poolings[mode]
  if (modes.length === 1 && known) return known
  throw new ModelError(
    `The model in ${folder} makes a vector by ${modes.join(' and ') || 'no known pooling'}, which this service cannot: choose one that does it by cls, mean or last token.`,
  )
}

const poolings: Record<string, LocalModel['pooling']> = {
  cls_token: 'cls',
  cls: 'cls',
  mean_tokens: 'mean',
  mean: 'mean',
  lasttoken: 'last_token',
}

/** Layers after the pooling are not in the ONNX file, so without them the vectors would be wrong. */
async function refuseFurtherLayers(folder: string): Promise<void> {
  const modules = await readJson(join(folder, 'modules.json'))
  const types = Object.values(modules ?? {}).map((module) => String(Object(module).type).split('.').at(-1))
  const further = types.find((type) => type !== undefined && !layers.includes(type))
  if (further === undefined) return
  throw new ModelError(
    `The model in ${folder} has a layer ${further} after the pooling, which this service cannot apply. Choose another model.`,
  )
}

const layers = ['Transformer', 'Pooling', 'Normalize']

/** Null if the file is missing. @throws ModelError if it is not a JSON object */
async function readJson(file: string): Promise<Record<string, unknown> | null> {
  if (!existsSync(file)) return null
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ModelError(`${file} is not JSON.`)
}

function changed(folder: string, name: string): ModelError {
  return new ModelError(
    `${name} of the model in ${folder} is not the file that was downloaded. Delete the folder to download the model again.`,
  )
}
