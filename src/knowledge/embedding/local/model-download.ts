import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers'
import { ExponentialBackoff, handleType, retry } from 'cockatiel'
import { ModelError, modelFiles, recordFile } from './model-files.ts'

const retriesMax = 3
/** The delay before the first retry, about; further ones are longer. */
const retryDelayMsMin = 1_000
/** A connection without data for this long is aborted. */
const stallMsMax = 30_000

interface DownloadOptions {
  /** Id on the hub, such as `BAAI/bge-small-en-v1.5`. */
  model: string
  /** The folder to create. */
  folder: string
  /** Such as `https://huggingface.co`. */
  hub: string
  /** The access token for models that need one. */
  token: string | null
  /** Called as bytes arrive. */
  onProgress?: (doneBytes: number, allBytes: number) => void
  fetch?: typeof fetch
  retryDelayMs?: number
  stallMs?: number
}

/** A file as the hub lists it. */
interface HubFile {
  rfilename: string
  size: number
  /** Git's SHA-1 of a small file, which is in the repository itself. */
  blobId?: string
  /** The digest of a large file. */
  lfs?: { sha256: string } | null
}

/** A failure that a retry may solve. */
class Interrupted extends Error {}

/**
 * Downloads the newest revision of a model from the hub. Each file is checked against the hub's digest, and the folder
 * appears only when all files are complete. @throws ModelError saying what to do
 */
export async function downloadModel(options: DownloadOptions): Promise<void> {
  const { model, folder, hub, onProgress, retryDelayMs: initialDelay = retryDelayMsMin } = options
  const backoff = new ExponentialBackoff({ initialDelay })
  const tries = retry(handleType(Interrupted), { maxAttempts: retriesMax, backoff })
  const own = `${folder}.${process.pid}.part`
  await removeLeftovers(folder)
  try {
    const { revision, files } = await tries.execute(() => listFiles(options))
    const allBytes = files.reduce((sum, { size }) => sum + size, 0)
    const digests: Record<string, string> = {}
    let doneBytes = 0
    for (const file of files) {
      const from = doneBytes
      const onBytes = (bytes: number) => onProgress?.(from + bytes, allBytes)
      const wanted = { ...options, revision, file, target: join(own, file.rfilename) }
      digests[file.rfilename] = await tries.execute(() => downloadFile(wanted, onBytes))
      doneBytes += file.size
    }
    await writeFile(join(own, recordFile), `${JSON.stringify({ revision, files: digests }, null, 2)}\n`)
    await putInPlace(own, folder)
  } catch (error) {
    if (error instanceof ModelError) throw error
    const { message } = Object(error)
    throw new ModelError(
      error instanceof Interrupted
        ? `The model ${model} could not be downloaded from ${hub}: ${message}. Try again, or put its files into a folder and name that in EMBEDDING_MODEL.`
        : `The model ${model} could not be stored in ${folder}: ${message}`,
    )
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** Removes the leftovers of downloads whose process has ended. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(dirname(folder)).catch(() => [])
  for (const name of names) {
    const [, model, pid] = /^(.+)\.(\d+)\.part$/.exec(name) ?? []
    if (model !== basename(folder) || isOther(Number(pid))) continue
    await rm(join(dirname(folder), name), { recursive: true, force: true })
  }
}

/** Whether another process of this id is running. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return Object(error).code === 'EPERM'
  }
}

async function putInPlace(own: string, folder: string): Promise<void> {
  // Another process may have been faster. A folder without a record was not downloaded by Callbook.
  if (existsSync(folder)) return
  await rename(own, folder).catch((error) => {
    if (!existsSync(folder)) throw error
  })
}

/** https://huggingface.co/docs/hub/api */
async function listFiles(options: DownloadOptions): Promise<{ revision: string; files: HubFile[] }> {
  const { model, hub, stallMs = stallMsMax } = options
  const url = `${hub}/api/models/${model}/revision/main?blobs=true`
  const answer = await get(options, url, AbortSignal.timeout(stallMs))
  const listed = Object(
    await answer.json().catch((error) => {
      throw interrupted(error)
    }),
  )
  const all: HubFile[] = Array.isArray(listed.siblings) ? listed.siblings : []
  const names: readonly string[] = [...modelFiles.needed, ...modelFiles.optional]
  const files = all.filter(({ rfilename, size }) => names.includes(rfilename) && Number.isSafeInteger(size))
  const missing = modelFiles.needed.filter((name) => !files.some(({ rfilename }) => rfilename === name))
  if (missing.length > 0) {
    throw new ModelError(
      `The model ${model} has no ${missing.join(', ')} on the hub, so it cannot run here: choose one that was exported to ONNX.`,
    )
  }
  return { revision: String(listed.sha), files }
}

interface FileDownload extends DownloadOptions {
  revision: string
  file: HubFile
  target: string
}

/** @returns the file's SHA-256 */
async function downloadFile(options: FileDownload, onBytes: (bytes: number) => void): Promise<string> {
  const { model, hub, revision, file, target, stallMs = stallMsMax } = options
  const { rfilename, size, lfs, blobId } = file
  const url = `${hub}/${model}/resolve/${encodeURIComponent(revision)}/${rfilename}`
  const sha256 = createHash('sha256')
  const git = createHash('sha1').update(`blob ${size}\0`)
  let bytes = 0
  const stalled = new AbortController()
  const timer = setTimeout(() => stalled.abort(), stallMs)
  const received = async function* () {
    for await (const part of bodyOf(await get(options, url, stalled.signal))) {
      timer.refresh()
      bytes += part.byteLength
      if (bytes > size) throw new Interrupted(`${rfilename} is longer than the hub says`)
      sha256.update(part)
      git.update(part)
      onBytes(bytes)
      yield part
    }
  }
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await pipeline(received(), createWriteStream(target, { mode: 0o600 }))
  } finally {
    clearTimeout(timer)
  }
  if (bytes !== size) throw new Interrupted(`${rfilename} broke off`)
  const digest = sha256.digest('hex')
  const isListed = lfs ? lfs.sha256 === digest : !blobId || blobId === git.digest('hex')
  if (!isListed) throw new Interrupted(`${rfilename} is not the file that the hub lists`)
  return digest
}

async function* bodyOf({ body }: Response): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of body ?? []) yield part
  } catch (error) {
    throw interrupted(error)
  }
}

/** @throws Interrupted, or ModelError for an answer that a retry will not change */
async function get(
  { model, token, fetch = globalThis.fetch }: DownloadOptions,
  url: string,
  signal: AbortSignal,
): Promise<Response> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
  // When redirected to another host, fetch leaves out the token.
  const answer = await fetch(url, { headers, signal }).catch((error) => {
    throw interrupted(error)
  })
  if (answer.ok) return answer
  await answer.body?.cancel()
  const { status } = answer
  // The hub also answers 401 for a model that it does not have.
  if (status === 401 || status === 403) {
    const remedy =
      token === null ? 'set HF_TOKEN' : 'accept its terms on the hub with the account of HF_TOKEN'
    throw new ModelError(
      `The hub refuses the model ${model} (${status}): check EMBEDDING_MODEL; if the model is gated or private, ${remedy}.`,
    )
  }
  if (status === 404) throw new ModelError(`The hub does not have ${url}: check EMBEDDING_MODEL.`)
  if (status === 429 || status >= 500) throw new Interrupted(`the hub answered ${status}`)
  throw new ModelError(`The hub answered ${status} for ${url}.`)
}

function interrupted(error: unknown): Interrupted {
  const { code, name = 'error' } = Object(error)
  return new Interrupted(`it cannot be reached or read (${code ?? name})`)
}
