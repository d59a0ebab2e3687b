import { existsSync, mkdirSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addonFiles } from '../src/knowledge/indexing/index/addon.ts'
import { buildPortableAddon } from './build-addon.ts'
import { buildConsole } from './build-console.ts'
import { assetFolders, bundleOf, docsScript } from './bundle.ts'

// Builds one executable of the service, its command line and Bun for this platform: `bun run build:executable`.

const root = fileURLToPath(new URL('..', import.meta.url))
/** Where a running executable finds its embedded files. https://bun.com/docs/bundler/executables */
const embedded = '/$bunfs/root'

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
  const addon = portable ? buildPortableAddon(join(root, 'dist', 'portable-addon')) : addonFiles()
  if (!existsSync(addon.stamp))
    throw new Error('The vector index is not compiled: bun scripts/build-addon.ts')
  await buildConsole()
  mkdirSync(dirname(outfile), { recursive: true })
  await Bun.build({
    ...bundleOf({ urlOf: (name) => `new URL('file://${embedded}/${name}')`, edits: editsFor(addon) }),
    compile: { outfile, assets: [...Object.values(assetFolders), docsScript, addon.stamp] },
  })
}

function editsFor({ addon, stamp }: { addon: string; stamp: string }) {
  return {
    'node_modules/libsql/index.js': [['requireNative();', `require('@libsql/${libsqlTarget()}');`]],
    'src/http/docs-routes.ts': [
      [`createRequire(import.meta.url).resolve('@scalar/api-reference')`, `'${embedded}/scalar'`],
      [`'browser', 'standalone.js'`, `'${basename(docsScript)}'`],
    ],
    'src/knowledge/indexing/index/addon.ts': [
      [
        `const files = addonFiles()`,
        `const files = { addon: '${embedded}', stamp: '${embedded}/${basename(stamp)}' }`,
      ],
      [`createRequire(import.meta.url)('hnswlib-node')`, `require('${addon}')`],
    ],
  } satisfies Record<string, [string, string][]>
}

/** The package with libSQL's native code; on Linux the one for glibc. */
function libsqlTarget(): string {
  return `${platform()}-${arch()}${platform() === 'linux' ? '-gnu' : ''}`
}
