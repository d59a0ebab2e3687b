import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../package.json' with { type: 'json' }
import { platformName } from '../src/knowledge/indexing/index/addon.ts'
import { buildPortableAddon } from './build-addon.ts'
import { buildConsole } from './build-console.ts'
import { assetFolders, bundleOf, docsScript } from './bundle.ts'

// Builds the npm package in `dist/package`: `bun run build:package`. It holds one bundle of the service and its command
// line, the console, and the vector index compiled for each platform, so that an installation compiles and runs nothing.

const root = fileURLToPath(new URL('..', import.meta.url))
/** When a release is built, the addons of all platforms are here, one folder each. */
const addonsFolder = join(root, 'dist', 'addons')
/** The platforms that the package has a vector index for. */
export const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

/** What the bundle leaves to the registry: libSQL's native code, of which an installation fetches its platform's. */
const { libsql } = packageJson.dependencies

/** The package has these files beside its scripts. */
const edits = {
  'src/http/docs-routes.ts': [
    [
      `createRequire(import.meta.url).resolve('@scalar/api-reference')`,
      `createRequire(import.meta.url).resolve('./docs.js')`,
    ],
    [`'browser', 'standalone.js'`, `'docs.js'`],
  ],
  'src/knowledge/indexing/index/addon.ts': [
    [
      `const files = addonFiles()`,
      `const folder = join(import.meta.dirname, 'addons', platformName())
       const files = { addon: join(folder, 'addon.node'), stamp: join(folder, 'addon.stamp.json') }`,
    ],
    [`createRequire(import.meta.url)('hnswlib-node')`, `createRequire(import.meta.url)(files.addon)`],
  ],
} satisfies Record<string, [string, string][]>

if (import.meta.main) {
  const target = join(root, 'dist', 'package')
  const { missing } = await buildPackage({ target })
  const complete = missing.length === 0
  if (!complete)
    process.stderr.write(`Without a vector index for ${missing.join(', ')}: search is slower there.\n`)
  process.stdout.write(`Pack it with: npm pack ./${relative(process.cwd(), target)}\n`)
  if (!complete && process.argv.includes('--complete')) process.exit(1)
}

interface BuildOptions {
  /** Replaced. */
  target: string
}

/** Compiles this machine's addon, and takes the others from `dist/addons`. Returns the platforms that have none. */
export async function buildPackage({ target }: BuildOptions): Promise<{ missing: string[] }> {
  buildPortableAddon(join(addonsFolder, platformName()))
  await buildConsole()
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  await Bun.build({
    ...bundleOf({ urlOf: (name) => `new URL('./${flat(name)}', import.meta.url)`, edits }),
    outdir: target,
    external: ['libsql'],
    // One folder, so that a file finds the others wherever its code came from.
    naming: { entry: '[name].js', chunk: '[name]-[hash].js' },
  })
  const program = join(target, 'callbook.js')
  writeFileSync(program, `#!/usr/bin/env bun\n${readFileSync(program, 'utf8').replace(/^#!.*\n/, '')}`)
  chmodSync(program, 0o755)
  for (const [name, folder] of Object.entries(assetFolders))
    cpSync(folder, join(target, name), { recursive: true, filter: (path) => !path.endsWith('.ts') })
  cpSync(docsScript, join(target, 'docs.js'))
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(target, name))
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES.txt'), licences())
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`)
  const missing = platforms.filter((platform) => !existsSync(join(addonsFolder, platform, 'addon.node')))
  for (const platform of platforms)
    if (!missing.includes(platform))
      cpSync(join(addonsFolder, platform), join(target, 'addons', platform), { recursive: true })
  return { missing }
}

/** The name of a file in the package's one folder. */
function flat(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

function published() {
  const { name, version, description, license, type, engines } = packageJson
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { bun: engines.bun },
    bin: { callbook: 'callbook.js' },
    dependencies: { libsql },
  }
}

/** The licences of the packages that the bundle and the console may hold parts of, with all that these depend on. */
function licences(): string {
  const found = new Map<string, string>()
  const visit = (name: string, from: string) => {
    const folder = folderOf(name, from)
    if (!folder || found.has(folder)) return
    const {
      version,
      license,
      dependencies = {},
    } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry))
    const text = file ? readFileSync(join(folder, file), 'utf8') : `Licensed under ${license}.\n`
    found.set(folder, `${name} ${version}\n\n${text}`)
    for (const dependency of Object.keys(dependencies)) visit(dependency, folder)
  }
  for (const name of Object.keys(packageJson.dependencies)) visit(name, root)
  return [...found.values()].join(`\n${'-'.repeat(80)}\n\n`)
}

/** Where a package that `from` depends on is installed; null for one that this platform does not need. */
function folderOf(name: string, from: string): string | null {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? []
  return (
    places.map((place) => join(place, name)).find((folder) => existsSync(join(folder, 'package.json'))) ??
    null
  )
}
