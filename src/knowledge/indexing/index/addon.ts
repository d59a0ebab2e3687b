import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, cpus, platform } from 'node:os'
import { dirname, join } from 'node:path'

/** hnswlib-node as `scripts/build-addon.ts` compiles it. */
export interface Hnswlib {
  HierarchicalNSW: new (space: 'ip', dimensions: number) => HierarchicalNSW
}

/** What we use of hnswlib's graph. */
export interface HierarchicalNSW {
  initIndex(elementsMax: number, links?: number, efConstruction?: number, seed?: number): void
  resizeIndex(elementsMax: number): void
  readIndex(file: string): Promise<boolean>
  readIndexSync(file: string): boolean
  writeIndex(file: string): Promise<boolean>
  addPoint(vector: Float32Array, label: number): void
  unmarkDelete(label: number): void
  setEf(ef: number): void
  searchKnn(query: Float32Array, count: number): { neighbors: number[]; distances: number[] }
  getCurrentCount(): number
  getMaxElements(): number
}

/** The addon, or the reason why it cannot be loaded. */
export type LoadedAddon = { hnswlib: Hnswlib; reason: null } | { hnswlib: null; reason: string }

/** What `scripts/build-addon.ts` writes beside the addon. */
export interface AddonStamp {
  version: string
  platform: string
  /** The compiler's arguments without paths. When they or `sources` change, the addon is built again. */
  flags: string[]
  /** A digest of what the build changes in hnswlib-node's own sources. */
  sources: string
  /** CPU features the machine code may use: a CPU that lacks one would end the process. */
  cpu: string[]
}

/** Where hnswlib-node's addon and its stamp are, whether built or not. */
export function addonFiles(): { folder: string; addon: string; stamp: string } {
  const folder = dirname(createRequire(import.meta.url).resolve('hnswlib-node/package.json'))
  const release = join(folder, 'build', 'Release')
  return { folder, addon: join(release, 'addon.node'), stamp: join(release, 'addon.stamp.json') }
}

/** Loads hnswlib-node if its addon was built for a CPU like this one. Never throws. */
export function loadAddon(): LoadedAddon {
  try {
    const files = addonFiles()
    const reason = whyNotLoadable(files.addon, files.stamp)
    if (reason) return { hnswlib: null, reason }
    return { hnswlib: createRequire(import.meta.url)('hnswlib-node'), reason: null }
  } catch (error) {
    // Without the addon the service goes on, with a slower search.
    return { hnswlib: null, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Why the addon must not be loaded on this machine; null when it may. An illegal instruction cannot be caught. */
export function whyNotLoadable(addon: string, stamp: string, cpu = cpuFeatures()): string | null {
  if (!existsSync(addon)) return 'the hnswlib-node addon is not built'
  const addonStamp = readStamp(stamp)
  if (!addonStamp) return 'the hnswlib-node addon was not built by scripts/build-addon.ts'
  if (addonStamp.platform !== platformName()) return `the addon was built for ${addonStamp.platform}`
  const here = new Set(cpu)
  const missing = addonStamp.cpu.filter((feature) => !here.has(feature))
  return missing.length === 0 ? null : `the addon was built for another CPU (with ${missing.join(', ')})`
}

/** The stamp beside a built addon; null when it is missing or cannot be read. */
export function readStamp(file: string): AddonStamp | null {
  try {
    const stamp: AddonStamp = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(stamp.cpu) && Array.isArray(stamp.flags) ? stamp : null
  } catch {
    // Without a readable stamp the addon counts as not built.
    return null
  }
}

export function platformName(): string {
  return `${platform()}-${arch()}`
}

/** This CPU's features as the Linux kernel lists them; on other systems its model, which determines them. */
export function cpuFeatures(): string[] {
  if (platform() !== 'linux') return [cpus()[0]?.model ?? 'unknown']
  const line = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))
  return line?.[1]?.trim().split(/\s+/).sort() ?? [cpus()[0]?.model ?? 'unknown']
}
