import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  type AddonStamp,
  addonFiles,
  cpuFeatures,
  platformName,
  readStamp,
  whyNotLoadable,
} from '../src/knowledge/indexing/index/addon.ts'

const compilers = ['c++', 'g++', 'clang++']
const compileTimeoutMs = 300_000
const shortSpace = fileURLToPath(new URL('short-space.h', import.meta.url))

export interface BuildOptions {
  /** Whether to build for every CPU of this architecture, as an image needs, instead of for this CPU. */
  portable: boolean
  /** The first that is installed is used. */
  compilers?: string[]
  /** Where the addon goes; beside hnswlib-node's own sources unless given. */
  output?: { addon: string; stamp: string }
}

export type BuildResult = { built: boolean; problem: null } | { built: false; problem: string }

/**
 * Compiles hnswlib-node's only source file against N-API. Unlike node-gyp, this needs neither Python nor a download of
 * Node's headers, which are npm packages.
 */
export function buildAddon(options: BuildOptions): BuildResult {
  const { folder, ...beside } = addonFiles()
  const output = options.output ?? beside
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const stamp: AddonStamp = {
    version,
    platform: platformName(),
    flags: compilerFlags(options.portable),
    sources: digestOf(shortSpace, fileURLToPath(import.meta.url)),
    cpu: options.portable ? [] : cpuFeatures(),
  }
  if (isBuilt(output, stamp)) return { built: false, problem: null }

  const compiler = (options.compilers ?? compilers).find(isInstalled)
  if (!compiler) return { built: false, problem: 'there is no C++ compiler (c++, g++ or clang++)' }
  const temporary = `${output.addon}.${process.pid}.tmp`
  const sources = `${temporary}.src`
  mkdirSync(dirname(output.addon), { recursive: true })
  try {
    copySources(folder, sources)
    const includes = includeFolders(sources).map((include) => `-I${include}`)
    const compiled = spawnSync(
      compiler,
      [...stamp.flags, ...includes, join(sources, 'addon.cc'), '-o', temporary],
      { encoding: 'utf8', timeout: compileTimeoutMs },
    )
    if (compiled.status !== 0) return { built: false, problem: `${compiler} failed: ${firstError(compiled)}` }
    // Remove the old stamp first, so that a stamp never describes another addon.
    rmSync(output.stamp, { force: true })
    renameSync(temporary, output.addon)
    writeFileSync(`${output.stamp}.tmp`, `${JSON.stringify(stamp, null, 2)}\n`)
    renameSync(`${output.stamp}.tmp`, output.stamp)
    return { built: true, problem: null }
  } finally {
    rmSync(temporary, { force: true })
    rmSync(sources, { recursive: true, force: true })
  }
}

/** Compiles the addon for every CPU of this architecture into a folder. @throws with what is missing */
export function buildPortableAddon(folder: string): { addon: string; stamp: string } {
  const output = { addon: join(folder, 'addon.node'), stamp: join(folder, 'addon.stamp.json') }
  const { problem } = buildAddon({ portable: true, output })
  if (problem) throw new Error(`The vector index could not be compiled: ${problem}`)
  return output
}

/**
 * Each index of hnswlib has 65,536 locks for threads that change it at once, in 2.6 MB whatever its size. Ours is
 * changed by one thread, so `LABEL_LOCKS` is 1. Its vectors and its search are those of short-space.h.
 */
function copySources(hnswlibNode: string, to: string): void {
  cpSync(join(hnswlibNode, 'src'), to, { recursive: true })
  cpSync(shortSpace, join(to, 'short-space.h'))
  const locks = 'MAX_LABEL_OPERATION_LOCKS = '
  const search = `std::priority_queue<std::pair<dist_t, labeltype >> result;
        if (cur_element_count == 0) return result;
`
  replaceIn(join(to, 'hnswlib', 'hnswalg.h'), [
    [`${locks}65536`, `${locks}LABEL_LOCKS`],
    [
      'data_level0_memory_ = (char *) malloc(max_elements * size_data_per_element_);',
      `data_level0_memory_ = (char *) malloc(max_elements * size_data_per_element_);
        useHugePages(data_level0_memory_, max_elements * size_data_per_element_);`,
    ],
    [
      search,
      `${search}        if (!num_deleted_ && !isIdAllowed) return searchShorts(*this, query_data, k);\n`,
    ],
  ])
  replaceIn(join(to, 'addon.cc'), [
    ['#include "hnswlib/hnswlib.h"', '#include "short-space.h"'],
    ['space_ = new hnswlib::InnerProductSpace', 'space_ = new hnswlib::ShortSpace'],
    ['reinterpret_cast<void*>(vec.data())', 'hnswlib::shortened(vec).data()'],
    // Vectors are taken as a Float32Array: reading an array's numbers one by one takes 60 us.
    ['!info[0].IsArray()', '!info[0].IsTypedArray()'],
    ['Napi::Array arr = info[0].As<Napi::Array>()', 'const auto arr = info[0].As<Napi::Float32Array>()'],
    ['arr.Length()', 'arr.ElementLength()'],
    ['Napi::Value val = arr[i];', ''],
    ['vec[i] = val.As<Napi::Number>().FloatValue()', 'vec[i] = arr[i]'],
  ])
}

function digestOf(...files: string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex')
}

function replaceIn(file: string, replacements: [string, string][]): void {
  let source = readFileSync(file, 'utf8')
  for (const [text, other] of replacements) {
    if (!source.includes(text)) throw new Error(`hnswlib-node has no ${text}`)
    source = source.replaceAll(text, other)
  }
  writeFileSync(file, source)
}

function compilerFlags(portable: boolean): string[] {
  const isMac = process.platform === 'darwin'
  const shape = isMac ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared', '-fPIC']
  // Apple's clang refuses -march=native on arm64, where its default is the oldest of Apple's own chips.
  const cpu = portable || (isMac && process.arch === 'arm64') ? [] : ['-march=native']
  const defines = [
    '-DNAPI_DISABLE_CPP_EXCEPTIONS',
    '-DNAPI_VERSION=8',
    '-DLABEL_LOCKS=1',
    '-DLARGEST_SHORT=32512',
  ]
  return ['-O3', ...cpu, '-std=c++17', ...shape, ...defines]
}

function isBuilt(output: { addon: string; stamp: string }, wanted: AddonStamp): boolean {
  const built = readStamp(output.stamp)
  if (!built || whyNotLoadable(output.addon, output.stamp) !== null) return false
  return JSON.stringify(built) === JSON.stringify(wanted)
}

function isInstalled(compiler: string): boolean {
  return spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0
}

function includeFolders(sources: string): string[] {
  const require = createRequire(import.meta.url)
  const folderOf = (name: string) => dirname(require.resolve(`${name}/package.json`))
  return [join(folderOf('node-api-headers'), 'include'), folderOf('node-addon-api'), sources]
}

function firstError({ stderr, error }: { stderr: string; error?: Error }): string {
  return error?.message ?? stderr.split('\n').find((line) => line.includes('error')) ?? 'no message'
}

/** Never fails, since an installation must go on without the addon: prints what is missing and its consequence. */
function main(): void {
  let problem: string | null
  try {
    problem = buildAddon({ portable: process.env.ADDON_PORTABLE === '1' }).problem
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
  }
  if (!problem) return
  process.stderr.write(
    `The vector index could not be compiled: ${problem}. Callbook runs without it, but its vector search is ` +
      'exact and slower; install a C++ compiler (such as g++) and run `bun scripts/build-addon.ts`.\n',
  )
}

// Node below 24 has no import.meta.main.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) main()
