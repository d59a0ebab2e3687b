import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './build-console.ts'

// Compiles the TypeScript to JavaScript for Node, which `node dist/node/src/node.js` starts. Files stay separate, since
// workers and migrations are found by their paths.

const root = fileURLToPath(new URL('..', import.meta.url))

if (import.meta.main) {
  await buildNode()
  process.stdout.write('Start it with: node dist/node/src/node.js\n')
}

interface BuildOptions {
  /** The output folder, from which Node must find the packages. */
  target?: string
}

/** Replaces the target folder. */
export async function buildNode({ target = join(root, 'dist', 'node') }: BuildOptions = {}): Promise<void> {
  rmSync(target, { recursive: true, force: true })
  emit(target)
  for (const file of filesUnder(join(target, 'src'))) {
    const code = readFileSync(file, 'utf8')
    writeFileSync(file, code.replace(/new URL\('(\.[^']+)\.ts'/g, "new URL('$1.js'"))
  }
  cpSync(join(root, 'package.json'), join(target, 'package.json'))
  cpSync(join(root, 'src', 'db', 'migrations'), join(target, 'src', 'db', 'migrations'), { recursive: true })
  for (const folder of ['guide', 'face'])
    cpSync(join(root, 'src', folder), join(target, 'src', folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    })
  // Built in the folder that every run has, where the same sources are built once.
  await buildConsole()
  cpSync(join(root, 'dist', 'console'), join(target, 'dist', 'console'), { recursive: true })
}

function emit(target: string): void {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      // What the oldest supported Node supports.
      lib: ['ES2023', 'ES2024.String', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
      rewriteRelativeImportExtensions: true,
      rootDir: root,
      outDir: target,
      declaration: false,
      sourceMap: false,
    },
    include: [],
    files: [join(root, 'src', 'node.ts'), ...workers()],
  }
  // Inside the repository, so that packages are found. Builds may run concurrently, so the name is unique.
  mkdirSync(join(root, 'dist'), { recursive: true })
  const configFile = join(root, 'dist', `tsconfig.${process.pid}.json`)
  writeFileSync(configFile, JSON.stringify(config))
  try {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin',
      'tsc',
    )
    const { status, stdout } = spawnSync(process.execPath, [compiler, '--project', configFile], {
      cwd: root,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`The TypeScript did not compile:\n${stdout}`)
  } finally {
    rmSync(configFile)
  }
}

/** No file imports a worker, so the compiler needs a list. */
function workers(): string[] {
  return filesUnder(join(root, 'src')).filter((file) => /(^|[/-])worker\.ts$/.test(file))
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
}
