import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

// What the executable and the npm package have in common: the service and its command line, bundled with Bun.

const root = fileURLToPath(new URL('..', import.meta.url))

/** The name of the bundle's first script. It is no file of the repository. */
const entrypoint = join(root, 'callbook.ts')

/** Starts the service, or the command line if there is a command. Workers are started with a path. */
const entry = `
const [first = ''] = process.argv.slice(2)
await (/^([a-z]|-[hv]|--help|--version)/.test(first) ? import('./scripts/callbook.ts') : import('./src/main.ts'))`

/** The viewer of /docs, under the name that it has in a bundle. */
export const docsScript = join(
  dirname(createRequire(import.meta.url).resolve('@scalar/api-reference')),
  'browser',
  'standalone.js',
)

/** Folders that the service reads while it runs, by the names that they have in a bundle. */
export const assetFolders = {
  migrations: join(root, 'src', 'db', 'migrations'),
  guide: join(root, 'src', 'guide'),
  face: join(root, 'src', 'face'),
  console: join(root, 'dist', 'console'),
}

/** Replacements in the sources' text, by the end of a file's path. */
export type Edits = Record<string, [from: string, to: string][]>

/** These packages claim to have no side effects, so the bundler drops the class for web workers, but keeps the line that names it. */
const decoderEdits: Edits = Object.fromEntries(
  [
    ['mpg123-decoder', 'MPEGDecoder'],
    ['opus-decoder', 'OpusDecoder'],
  ].map(([name, decoder]) => [
    `node_modules/${name}/index.js`,
    [[`assignNames(${decoder}WebWorker, "${decoder}WebWorker");`, '']],
  ]),
)

interface BundlePaths {
  /** An expression for the URL of a script or folder of the bundle, such as `src/db/writer-worker.js` or `migrations`. */
  urlOf: (name: string) => string
  edits: Edits
}

/** The options of `Bun.build` for a bundle whose files find each other. */
export function bundleOf(paths: BundlePaths) {
  return {
    entrypoints: [entrypoint, ...workers()],
    files: { [entrypoint]: entry },
    root,
    target: 'bun',
    // Without splitting, packages with circular imports run before what they import.
    splitting: true,
    plugins: [bundledPaths(paths)],
  } satisfies Partial<Bun.BuildConfig>
}

/** No file imports a worker, so the bundler needs a list. */
function workers(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter(({ name }) => /(^|-)worker\.ts$/.test(name))
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** Rewrites the paths that sources resolve relative to themselves: workers are found by path, other files by name. */
function bundledPaths({ urlOf, edits }: BundlePaths): Bun.BunPlugin {
  const all: Edits = { ...decoderEdits, ...edits }
  return {
    name: 'bundled paths',
    setup(build) {
      build.onLoad(
        { filter: /\/(src\/.*\.ts|node_modules\/(libsql|mpg123-decoder|opus-decoder)\/index\.js)$/ },
        ({ path }) => {
          const beside = all[Object.keys(all).find((file) => path.endsWith(`/${file}`)) ?? ''] ?? []
          const code = beside.reduce(replaced, readFileSync(path, 'utf8'))
          const contents = code.replace(/new URL\('(\.[^']+)', import\.meta\.url\)/g, (_, to: string) => {
            const target = relative(root, join(dirname(path), to))
            return urlOf(target.endsWith('.ts') ? target.replace(/\.ts$/, '.js') : basename(target))
          })
          return { contents, loader: path.endsWith('.js') ? 'js' : 'ts' }
        },
      )
    },
  }
}

function replaced(code: string, [from, to]: [from: string, to: string]): string {
  if (!code.includes(from))
    throw new Error(`The bundle has to replace \`${from}\`, which is not there any more`)
  return code.replace(from, () => to)
}
