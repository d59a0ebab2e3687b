import { spawnSync } from 'node:child_process'
import { rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildExecutable } from '../../scripts/build-executable.ts'
import { buildNode } from '../../scripts/build-node.ts'
import { repository } from './process.ts'

export interface Runtime {
  name: string
  /** Why it cannot be tested here; null if it can. */
  missing: string | null
  /** The command that starts the service once `prepare` has resolved. */
  command: string[]
  prepare(): Promise<void>
  remove(): void
}

const nodeMajorMin = 20

/** Every supported runtime, also those that are missing here. */
export function everyRuntime(): Runtime[] {
  return [bun(), executable(), node(), deno()]
}

function bun(): Runtime {
  return {
    name: 'Bun',
    missing: null,
    command: [process.execPath, join(repository, 'src/main.ts')],
    ...ready,
  }
}

/** The executable of Bun and the service, outside the repository. */
function executable(): Runtime {
  const folder = join(tmpdir(), `callbook-executable-${process.pid}`)
  const outfile = join(folder, 'callbook')
  return {
    name: 'one file',
    missing: null,
    command: [outfile],
    prepare: () => buildExecutable({ outfile }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The build for Node, in a temporary folder with the packages of the repository. */
function node(): Runtime {
  const found = spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout ?? ''
  const major = Number(/^v(\d+)/.exec(found)?.[1] ?? 0)
  const folder = join(tmpdir(), `callbook-node-${process.pid}`)
  const target = join(folder, 'node')
  return {
    name: 'Node',
    missing: major >= nodeMajorMin ? null : `it is ${found.trim() || 'not installed'}`,
    command: ['node', join(target, 'src/node.js')],
    async prepare() {
      await buildNode({ target })
      symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function deno(): Runtime {
  const [binary] = [
    ...new Bun.Glob('node_modules/@deno/*/deno').scanSync({ cwd: repository, followSymlinks: true }),
  ]
  return {
    name: 'Deno',
    missing: binary ? null : 'its package is not installed',
    command: [join(repository, binary ?? ''), 'run', '-A', join(repository, 'src/deno.ts')],
    ...ready,
  }
}

const ready = { prepare: async () => undefined, remove: () => undefined }
