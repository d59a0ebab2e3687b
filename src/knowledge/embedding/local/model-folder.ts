import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Pooling } from '../models.ts'

// A model's files by their paths on the hub.
const needed = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'onnx/model.onnx']
const descriptions = ['1_Pooling/config.json', 'modules.json']
const optional = ['onnx/model.onnx_data', ...descriptions]
const layers = ['Transformer', 'Pooling', 'Normalize']
const poolings: Record<string, LocalModel['pooling']> = {
  cls_token: 'cls',
  cls: 'cls',
  mean_tokens: 'mean',
  mean: 'mean',
  lasttoken: 'last_token',
}

/** A model in a folder, ready to be loaded. */
export interface LocalModel {
  folder: string
  /** Covers all of its files. */
  digest: string
  /** From the model's `1_Pooling/config.json`; null if it has none. */
  pooling: Pooling | 'last_token' | null
}

/** Whether all files that a model needs are there. */
export function isComplete(folder: string): boolean {
  return needed.every((name) => existsSync(join(folder, name)))
}

/** @throws a sentence that says what to do, if a file is missing or needs what is not supported */
export async function readModel(folder: string): Promise<LocalModel> {
  const missing = needed.filter((name) => !existsSync(join(folder, name)))
  if (missing.length > 0) throw new Error(`the model in ${folder} has no ${missing.join(', ')}`)
  const all = createHash('sha256')
  for (const name of [...needed, ...optional].filter((name) => existsSync(join(folder, name)))) {
    const hash = createHash('sha256')
    for await (const part of createReadStream(join(folder, name), { highWaterMark: 1_048_576 }))
      hash.update(part)
    all.update(`${name}\n${hash.digest('hex')}\n`)
  }
  await refuseFurtherLayers(folder)
  return { folder, digest: all.digest('hex'), pooling: await readPooling(folder) }
}

/** Downloads what the library does not read: the small files that say how a model makes its vectors. */
export async function downloadDescriptions(address: string, folder: string, token: string | null) {
  for (const name of descriptions) {
    const headers = new Headers(token === null ? {} : { authorization: `Bearer ${token}` })
    const answer = await fetch(`${address}/resolve/main/${name}`, { headers })
    // The model does not have it. The hub answers 401 for a model that it does not have.
    if (answer.status === 404) continue
    if (!answer.ok) throw new Error(`the hub answered ${answer.status}`)
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), await answer.text())
  }
}

/** https://sbert.net/docs/package_reference/sentence_transformer/models.html#sentence_transformers.models.Pooling */
async function readPooling(folder: string): Promise<LocalModel['pooling']> {
  const config = await readJson(join(folder, '1_Pooling/config.json'))
  if (!config) return null
  const flags = Object.keys(config).filter((name) => /^pooling_mode_/.test(name) && config[name] === true)
  const modes = flags.map((name) => name.replace('pooling_mode_', ''))
  if (typeof config.pooling_mode === 'string') modes.push(config.pooling_mode)
  const pooling = poolings[modes[0] ?? '']
  if (modes.length === 1 && pooling) return pooling
  throw new Error(
    `the model in ${folder} makes a vector by ${modes.join(' and ') || 'no known pooling'}, which this service cannot: choose one that does it by cls, mean or last token`,
  )
}

/** Layers after the pooling are not in the ONNX file, so without them the vectors would be wrong. */
async function refuseFurtherLayers(folder: string): Promise<void> {
  const modules = Object.values((await readJson(join(folder, 'modules.json'))) ?? {})
  const types = modules.map((module) => String(Object(module).type).split('.').at(-1) ?? '')
  const further = types.find((type) => !layers.includes(type))
  if (further === undefined) return
  throw new Error(
    `the model in ${folder} has a layer ${further} after the pooling, which this service cannot apply: choose another model`,
  )
}

async function readJson(file: string): Promise<Record<string, unknown> | null> {
  if (!existsSync(file)) return null
  try {
    return Object(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON`, { cause: error })
  }
}
