import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { skipped } from './skipped.ts'

// Packages that only tests of what others export need, and that are too large for every developer's node_modules.
// They are installed once, outside the repository, in exact versions and without running their install scripts.

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'callbook-tests')
const pythonList = join(import.meta.dir, 'python-packages.txt')
const nodePackages = {
  '@livekit/agents': '1.9.0',
  '@livekit/rtc-node': '0.13.35',
  '@opentelemetry/exporter-trace-otlp-proto': '0.220.0',
  '@opentelemetry/sdk-trace-node': '2.8.0',
  zod: '4.6.7',
}

/** A folder for PYTHONPATH with LiveKit Agents and Pipecat; null where Python or PyPI is not there. */
export async function pythonPackages(): Promise<string | null> {
  const list = await readFile(pythonList, 'utf8')
  const options = ['--quiet', '--no-deps', '--no-compile', '--only-binary=:all:']
  return install('python', list, (folder) => [
    'python3',
    '-m',
    'pip',
    'install',
    ...options,
    '--target',
    folder,
    '--requirement',
    pythonList,
  ])
}

/** A folder with `node_modules` that hold LiveKit Agents; null where Node or npm's registry is not there. */
export async function livekitForNode(): Promise<string | null> {
  if (spawnSync('node', ['--version']).status !== 0) return skipped('there is no Node')
  const manifest = JSON.stringify({ type: 'module', dependencies: nodePackages })
  return install('node', manifest, (folder) => {
    writeFileSync(join(folder, 'package.json'), manifest)
    return [process.execPath, 'install', '--ignore-scripts', '--silent', '--cwd', folder]
  })
}

/**
 * A folder with `node_modules` that hold `@huggingface/transformers`, without what only browsers need of it; null where
 * npm's registry is not there, or does not bring its 327 MB within 40 s.
 */
export async function transformersForNode(): Promise<string | null> {
  const dependencies = { '@huggingface/transformers': '4.3.1' }
  const overrides = { 'onnxruntime-web': 'npm:onnxruntime-common@1.30.0' }
  const manifest = JSON.stringify({ type: 'module', dependencies, overrides })
  const toCommand = (folder: string) => {
    writeFileSync(join(folder, 'package.json'), manifest)
    return [process.execPath, 'install', '--ignore-scripts', '--silent', '--cwd', folder]
  }
  return install('transformers', manifest, toCommand, 40_000)
}

function install(
  name: string,
  versions: string,
  command: (folder: string) => string[],
  timeout = 300_000,
): string | null {
  const folder = join(cache, `${name}-${createHash('sha256').update(versions).digest('hex').slice(0, 16)}`)
  if (existsSync(folder)) return folder
  const own = `${folder}.${process.pid}`
  mkdirSync(own, { recursive: true })
  const [program = '', ...args] = command(own)
  const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout })
  if (status !== 0) {
    rmSync(own, { recursive: true, force: true })
    if (error && 'code' in error && error.code === 'ETIMEDOUT')
      return skipped(`packages for ${name}: the registry has not brought them within ${timeout / 1000} s`)
    return skipped(`packages for ${name}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`)
  }
  // Another run may have been faster.
  if (existsSync(folder)) rmSync(own, { recursive: true, force: true })
  else renameSync(own, folder)
  return folder
}
