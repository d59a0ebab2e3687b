import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `manifest.json`, which scripts/build-console.ts writes beside the files it names. */
export interface ConsoleManifest {
  /** Hash of all the sources. */
  digest: string
  /** The service's modules that the page has too; they are among its sources. */
  imported: string[]
  /** The files that the HTML of the page refers to. */
  entries: { main: string; boot: string; styles: string; icon: string; font: string }
  /** The scripts that a page loads beside `main`: of /calls under `calls`, of those below it under `calls/`. */
  groups: Record<string, string[]>
  /** By name, which includes a hash of the content. Each file also exists as `.br` and `.gz`. */
  files: Record<string, AssetFile>
}

export interface AssetFile {
  type: string
  bytes: number
  brBytes: number
  gzBytes: number
}

/** Blobs, which all responses share: a response made from bytes would hold its own copy. */
interface Asset {
  type: string
  plain: Blob
  encoded: { br: Blob; gzip: Blob }
}

export type ConsoleAssets = NonNullable<ReturnType<typeof readAssets>>

/**
 * Reads all files of the page into memory, so that a process keeps serving this version while another is built.
 * Null when the page has not been built.
 */
export function readAssets(folder: string) {
  const manifest = readManifest(folder)
  if (!manifest) return null
  const read = (name: string) => new Blob([readFileSync(join(folder, name))])
  const assets = Object.entries(manifest.files).map(([name, { type }]): [string, Asset] => [
    name,
    { type, plain: read(name), encoded: { br: read(`${name}.br`), gzip: read(`${name}.gz`) } },
  ])
  return { ...manifest, assets: new Map(assets) }
}

function readManifest(folder: string): ConsoleManifest | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  } catch {
    // Not built: `notBuiltPage` says how.
    return null
  }
}
