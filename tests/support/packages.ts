import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keptFolder } from '../../scripts/kept-folder.ts'
import { skipped } from './skipped.ts'

// Packages that only tests of what others export need, and that are too large for every developer's node_modules.
// They are installed once, outside the repository, in exact versions and without running their install scripts.

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
  try {
    return keptFolder(name, versions, (folder) => {
      const [program = '', ...args] = command(folder)
      const { status, error, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout })
      if (status === 0) return
      return error && 'code' in error && error.code === 'ETIMEDOUT'
        ? `the registry has not brought them within ${timeout / 1000} s`
        : (error?.message ?? stderr.trim().split('\n').at(-1) ?? 'no message')
    })
  } catch (error) {
    return skipped(`packages for ${name}: ${error instanceof Error ? error.message : error}`)
  }
}
