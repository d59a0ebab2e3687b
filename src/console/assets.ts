import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What scripts/build-console.ts made: `manifest.json` beside the files it names. */
export interface ConsoleManifest {
  /** Of everything it was made of. */
  digest: string
  /** Names of the files that the page names itself. */
  entries: { main: string; boot: string; styles: string; icon: string }
  /** Names of the scripts of the frame of all pages: fetched beside `main`, which asks for them later. */
  preloads: string[]
  /** Compressed bytes of script without which the sign-in page, or the frame of all others, shows nothing. */
  firstLoadBytes: { signIn: number; shell: number }
  /** By name, which holds a hash of the content; each lies there also as `.br` and `.gz`. */
  files: Record<string, AssetFile>
}

export interface AssetFile {
  /** As in Content-Type. */
  type: string
  bytes: number
  brBytes: number
  gzBytes: number
}

/** Blobs, which all answers share: an answer made of bytes would hold its own copy. */
interface Asset {
  /** As in Content-Type. */
  type: string
  plain: Blob
  encoded: { br: Blob; gzip: Blob }
}

export interface ConsoleAssets {
  entries: ConsoleManifest['entries']
  preloads: string[]
  assets: ReadonlyMap<string, Asset>
}

/**
 * All files of the page, in memory: a process keeps serving the page it was started with while another version is
 * built, and nothing that a request names is ever looked up on disk. Null when nothing is built.
 */
export function readAssets(folder: string): ConsoleAssets | null {
  const manifest = readManifest(folder)
  if (!manifest) return null
  const read = (name: string) => new Blob([readFileSync(join(folder, name))])
  const assets = Object.entries(manifest.files).map(([name, { type }]): [string, Asset] => [
    name,
    { type, plain: read(name), encoded: { br: read(`${name}.br`), gzip: read(`${name}.gz`) } },
  ])
  return { entries: manifest.entries, preloads: manifest.preloads, assets: new Map(assets) }
}

function readManifest(folder: string): ConsoleManifest | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  } catch {
    // Not built: the page says how to.
    return null
  }
}
