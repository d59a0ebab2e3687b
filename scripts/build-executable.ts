import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addonFiles } from '../src/knowledge/indexing/index/addon.ts'
import { buildAddon } from './build-addon.ts'
import { buildConsole } from './build-console.ts'

// Builds one executable of the service, its command line and Bun for this platform: `bun run build:executable`.

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
/** Where a running executable finds its embedded files. https://bun.com/docs/bundler/executables */
const embedded = '/$bunfs/root'
const scalarScript = 'standalone.js'

/** Starts the service, or the command line if there is a command. Workers are started with a path. */
const entry = `
const [first = ''] = process.argv.slice(2)
await (/^([a-z]|-[hv]|--help|--version)/.test(first) ? import('./scripts/callbook.ts') : import('./src/main.ts'))`

if (import.meta.main) {
  const outfile = join(root, 'dist', 'callbook')
  await buildExecutable({ outfile, portable: process.env.ADDON_PORTABLE === '1' })
  process.stdout.write(`Start it with: ${relative(process.cwd(), outfile)}\n`)
}

interface BuildOptions {
  outfile: string
  /** Compiles the vector index for every CPU of this architecture instead of using the installed one. */
  portable?: boolean
}

/** @throws when a file to embed is missing */
export async function buildExecutable({ outfile, portable = false }: BuildOptions): Promise<void> {
  const addon = portable ? buildPortableAddon() : addonFiles()
  if (!existsSync(addon.stamp))
    throw new Error('The vector index is not compiled: bun scripts/build-addon.ts')
  await buildConsole()
  mkdirSync(dirname(outfile), { recursive: true })
  const entrypoint = join(root, 'executable.ts')
  await Bun.build({
    entrypoints: [entrypoint, ...workers()],
    files: { [entrypoint]: entry },
    root,
    target: 'bun',
    // Without splitting, packages with circular imports run before what they import.
    splitting: true,
    compile: {
      outfile,
      assets: [
        join(root, 'src', 'db', 'migrations'),
        join(root, 'src', 'guide'),
        join(root, 'src', 'face'),
        join(root, 'dist', 'console'),
        join(dirname(require.resolve('@scalar/api-reference')), 'browser', scalarScript),
        addon.stamp,
      ],
    },
    plugins: [embeddedPaths(addon)],
  })
}

function buildPortableAddon() {
  const folder = join(root, 'dist', 'portable-addon')
  const output = { addon: join(folder, 'addon.node'), stamp: join(folder, 'addon.stamp.json') }
  const { problem } = buildAddon({ portable: true, output })
  if (problem) throw new Error(`The vector index could not be compiled: ${problem}`)
  return output
}

/** No file imports a worker, so the bundler needs a list. */
function workers(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => /(^|-)worker\.ts$/.test(name))
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** Rewrites the paths that sources resolve relative to themselves: workers are embedded by path, other files by name. */
function embeddedPaths({ addon, stamp }: { addon: string; stamp: string }): Bun.BunPlugin {
  const edits: Record<string, [from: string, to: string][]> = {
    'node_modules/libsql/index.js': [['requireNative();', `require('@libsql/${libsqlTarget()}');`]],
    'src/http/docs-routes.ts': [
      [`createRequire(import.meta.url).resolve('@scalar/api-reference')`, `'${embedded}/scalar'`],
      [`'browser', 'standalone.js'`, `'${scalarScript}'`],
    ],
    'src/knowledge/indexing/index/addon.ts': [
      [
        `const files = addonFiles()`,
        `const files = { addon: '${embedded}', stamp: '${embedded}/${basename(stamp)}' }`,
      ],
      [`createRequire(import.meta.url)('hnswlib-node')`, `require('${addon}')`],
    ],
  }
  // Each says that it has no side effects, so the bundler drops the class for web workers, but not the line that names it.
  for (const [name, decoder] of [
    ['mpg123-decoder', 'MPEGDecoder'],
    ['opus-decoder', 'OpusDecoder'],
  ])
    edits[`node_modules/${name}/index.js`] = [
      [`assignNames(${decoder}WebWorker, "${decoder}WebWorker");`, ''],
    ]
  return {
    name: 'embedded paths',
    setup(build) {
      build.onLoad(
        { filter: /\/(src\/.*\.ts|node_modules\/(libsql|mpg123-decoder|opus-decoder)\/index\.js)$/ },
        ({ path }) => {
          const beside = edits[Object.keys(edits).find((file) => path.endsWith(`/${file}`)) ?? ''] ?? []
          const code = beside.reduce(replaced, readFileSync(path, 'utf8'))
          const contents = code.replace(/new URL\('(\.[^']+)', import\.meta\.url\)/g, (_, to: string) => {
            const target = relative(root, join(dirname(path), to))
            const name = target.endsWith('.ts') ? target.replace(/\.ts$/, '.js') : basename(target)
            return `new URL('file://${embedded}/${name}')`
          })
          return { contents, loader: path.endsWith('.js') ? 'js' : 'ts' }
        },
      )
    },
  }
}

function replaced(code: string, [from, to]: [from: string, to: string]): string {
  if (!code.includes(from))
    throw new Error(`The executable has to replace \`${from}\`, which is not there any more`)
  return code.replace(from, () => to)
}

/** The package with libSQL's native code; on Linux the one for glibc. */
function libsqlTarget(): string {
  return `${platform()}-${arch()}${platform() === 'linux' ? '-gnu' : ''}`
}
