import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'
import type { AssetFile, ConsoleManifest } from '../src/console/assets.ts'
import { assetsPath } from '../src/console/page.ts'

// Builds the console's page for browsers with Vite: `bun run build`, and before a start if anything changed.

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'src', 'console', 'ui')
const face = join(root, 'src', 'face')
/** Limits by page for the compressed scripts, styles and typeface that it loads before it shows anything. */
export const firstLoadBytesMax = {
  entry: 190_000,
  overview: 230_000,
  calls: 225_000,
  'calls/': 260_000,
  callers: 230_000,
  playground: 280_000,
  charts: 295_000,
  knowledge: 305_000,
  questions: 300_000,
  'settings/': 340_000,
}

/** What every page needs, the sign-in too: small modules, which would otherwise be many small files. */
const coreModules = [
  /@mantine\/(hooks\/(?!esm\/use-(drag|long-press|local-storage))|core\/(esm\/core|.*\/(Anchor|Group|InputBase|ScrollArea\/utils|Skeleton|Stack|Text|TextInput|Title))\/)/,
  /@tanstack\/react-(query|router)\/.*\/use(Mutation|Location)/,
  /ui\/(components\/(action|acts|code|field-|figures|mono|problem|use-focus)|shell\/sign-out)/,
]

/** What most pages of a project need, and their frame. */
const shellModules = [
  /@tanstack\/(query-core|react-query|react-router)\/(?!.*(queriesObserver|useQueries|useBlocker))|@tabler\/icons-react/,
  // The others are loaded on demand, or need overlays.
  /ui\/components\/(?!api-form|calendar|choice|confirm|day-field|dialog-host|json-tree|notices|page\.|row-menu|shown|table)/,
  /ui\/shell\/(?!(menus|.*-(again|commands|dialog|drawer|form))\.tsx?$)/,
  // Names of classes and of platforms: a small file that most pages share would be joined with one that few need.
  /ui\/components\/.*\.module\.css$|sources\/catalog/,
  // The links to a new alert, on the list of calls and on the overview, and to a call, in the palette and on its page.
  /ui\/views\/(alerts\/alert-link|calls\/call-links)/,
]

/**
 * Which modules share a file, the first match first; a group also takes what its modules import. Without this table a
 * page needs sixty files, since every set of pages that share a module gets one.
 */
const chunkGroups: Rolldown.CodeSplittingGroup[] = [
  { name: 'main', tags: ['$initial'], test: (id) => !id.endsWith('boot.ts') },
  { name: stylesOf },
  { name: 'core', test: (id) => coreModules.some((form) => form.test(id)) },
  { name: 'shell', test: (id) => shellModules.some((form) => form.test(id)) },
  {
    name: 'overlays',
    test: /@mantine\/core\/.*\/(Drawer|Menu|Modal|Popover|Tooltip)\/|ui\/components\/row-menu/,
  },
  {
    name: 'fields',
    test: /@mantine\/core\/.*\/(Checkbox|MultiSelect|NumberInput|Radio|Select|Switch|TagsInput|Textarea)\//,
  },
  // Of the sign-in and of pages with a form, which the calls load later.
  { name: 'forms', test: /ui\/components\/api-form/ },
  // Needs overlays and fields, which the sign-in page must not load.
  { name: 'secrets', test: /ui\/components\/shown-once/ },
  // Of calls, of the call's page and of agreement, which must not load each other.
  { name: 'queue', test: /ui\/views\/calls\/(queue-queries|view-queries)/ },
  // Needs overlays and fields, too; of views and of charts.
  { name: 'keep', test: /ui\/views\/calls\/save-form/ },
  // Neither the overview nor the calls need them.
  {
    name: 'lists',
    test: /@mantine\/core\/.*\/(SegmentedControl|Tabs)\/|ui\/components\/(page|table)\.tsx/,
  },
  // Of the list without calls, which must not load forms.
  { name: 'first-call', test: /ui\/views\/(first-steps\/first-call|settings\/keys)\.tsx?$/ },
  // Of knowledge, of the playground and of questions, and of the form of a key.
  { name: 'items', test: /ui\/views\/knowledge\/(queries|tags-field)/ },
  // Of settings and of the first steps, and of two pages of knowledge.
  {
    name: 'new-key',
    test: /ui\/(views\/settings\/new-key|components\/(choice-cards|day-field))\.tsx?$/,
  },
  // They would be joined with parts of the call's page.
  { name: 'drop', test: /dropzone|file-selector/ },
  { name: 'passages', test: /ui\/views\/questions\/questions\.tsx/ },
  // They would be joined with what needs fields and overlays, which the sign-in, the overview and the calls must not load.
  { name: 'new-project', test: /ui\/shell\/new-project-form/ },
  // What the overview, the list of calls and the call's page have in common, and some of it other lists and privacy, too.
  {
    name: 'calls',
    test: /ui\/views\/(calls\/(call-filters|call-line|date-ranges|filter-(fields|forms|labels)|pill)|callers\/(caller-link|use-open-caller)|analysis\/analysis-queries)\.tsx?$/,
  },
  // Of the overview, of a chart's page and of alerts; what chooses a chart needs fields.
  {
    name: 'charts',
    test: /ui\/views\/charts\/(card|chart|chart-queries|figure-chart|groups|plot)\.tsx?$/,
  },
  // Of the call's page, a caller's and privacy, which would be joined with the playground's parts.
  { name: 'holds', test: /ui\/views\/calls\/holds/ },
  { name: 'chart-choices', test: /ui\/views\/charts\/chart-choices/ },
  // Of the playground and an item's page; it would be joined with dialogs of calls.
  { name: 'ask', test: /ui\/views\/playground\/ask-form/ },
  {
    name: (id, modules) => (folderOfViews(id, modules) ? null : 'shared'),
    minShareCount: 2,
    entriesAware: true,
    entriesAwareMergeThreshold: 12_000,
  },
  { name: folderOfViews },
]

/** The views of these folders share a file. The list of calls does not wait for the call's page. */
const foldersOfViews = /ui\/views\/(alerts|analysis|entry|knowledge|playground|questions|settings)\//

/** Level 11 takes four times as long and saves 2 % of the bytes. */
const brotliQuality = 10
const gzipLevel = 9

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

export interface ConsoleBuild {
  /** False if the existing files were built from the same sources. */
  built: boolean
  manifest: ConsoleManifest
}

interface BuildOptions {
  /** The output folder, also of the manifest. */
  folder?: string
}

/** Builds into `folder`. Other processes may build or serve the same folder meanwhile. */
export async function buildConsole({
  folder = join(root, 'dist', 'console'),
}: BuildOptions = {}): Promise<ConsoleBuild> {
  const manifestFile = join(folder, 'manifest.json')
  const existing = readManifest(manifestFile)
  if (existing?.digest === digestOfInputs(existing?.imported) && isComplete(folder, existing)) {
    return { built: false, manifest: existing }
  }

  const outputs = await inProduction(bundle)
  mkdirSync(folder, { recursive: true })
  const files: Record<string, AssetFile> = {}
  await Promise.all(
    outputs.map(async (output) => {
      files[output.fileName] = await store(folder, output)
    }),
  )
  const imported = importedOf(outputs)
  const digest = digestOfInputs(imported)
  const manifest: ConsoleManifest = { digest, imported, ...entriesOf(outputs), files: sorted(files) }
  // Last, so that the manifest never names a missing file.
  replaceFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`)
  removeOthers(folder, manifest)
  return { built: true, manifest }
}

/** The compressed bytes of all that a page loads before it shows anything; `entry` has the page of the sign-in. */
export function firstLoadBytes({ entries, groups, files }: ConsoleManifest, group: string): number {
  const { boot, styles, font, main } = entries
  return [boot, styles, font, main, ...(groups[group] ?? [])]
    .map((name) => files[name]?.brBytes ?? Number.NaN)
    .reduce((sum, bytes) => sum + bytes)
}

function digestOfInputs(imported: string[] = []): string {
  const hash = createHash('sha256').update(Bun.version)
  const modules = imported.map((path) => join(root, path)).filter((file) => existsSync(file))
  const others = [fileURLToPath(import.meta.url), join(root, 'bun.lock'), ...modules]
  for (const file of [...others, ...filesUnder(sources), ...filesUnder(face)]) {
    hash.update(`\0${relative(root, file)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function readManifest(file: string): ConsoleManifest | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Missing or incomplete: build again.
    return null
  }
}

function isComplete(folder: string, { files }: ConsoleManifest): boolean {
  return Object.keys(files).every((name) =>
    ['', '.br', '.gz'].every((ending) => existsSync(join(folder, name + ending))),
  )
}

/** Vite decides by the variable, and leaves it set; other parts of this process read it too. */
async function inProduction<Result>(work: () => Promise<Result>): Promise<Result> {
  const { NODE_ENV } = process.env
  process.env.NODE_ENV = 'production'
  try {
    return await work()
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
  }
}

type Output = Rolldown.OutputChunk | Rolldown.OutputAsset

async function bundle(): Promise<Output[]> {
  // Only now: a start whose page is built does not wait for it.
  const { build } = await import('vite')
  const named = '[name]-[hash].js'
  const built = await build({
    configFile: false,
    root: sources,
    base: assetsPath,
    logLevel: 'error',
    // The names of animations and containers are for all sheets, and cells name their areas.
    css: {
      transformer: 'lightningcss',
      lightningcss: { cssModules: { animation: false, container: false, grid: false } },
    },
    plugins: [stylesOfMantine],
    build: {
      write: false,
      target: 'esnext',
      cssCodeSplit: true,
      // The page's policy allows no scripts and fonts but files.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: { main: join(sources, 'main.tsx'), boot: join(sources, 'boot.ts') },
        preserveEntrySignatures: false,
        output: {
          hashCharacters: 'hex',
          entryFileNames: named,
          // The name of a shared file lists all that share it.
          chunkFileNames: ({ name }) => (name.startsWith('shared~') ? 'shared-[hash].js' : named),
          assetFileNames: ({ names: [name = ''] }) =>
            name.startsWith('shared~') ? 'shared-[hash][extname]' : '[name]-[hash][extname]',
          codeSplitting: {
            groups: chunkGroups.map((group, at) => ({ ...group, priority: chunkGroups.length - at })),
          },
        },
      },
    },
  })
  if (!('output' in built)) throw new Error('Vite did not build one bundle')
  return built.output
}

/** Imports each component's own styles along with it, so that those of unused components are left out. */
const stylesOfMantine: Plugin = {
  name: 'styles-of-mantine',
  transform: {
    filter: { id: /@mantine\/core\/.*\.module\.mjs$/ },
    handler: (code, id) => `import '@mantine/core/styles/${basename(id, '.module.mjs')}.layer.css'\n${code}`,
  },
}

/** Classes of the views of a folder share a file, and so do their styles; those of the call's page are not the list's. */
function stylesOf(id: string): string | null {
  const [, folder = null, name = ''] = /ui\/views\/([\w-]+)\/([\w-]+)\.module\.css$/.exec(id) ?? []
  if (folder === 'calls') return /^(call-list|calls)$/.test(name) ? 'calls' : 'styles-call'
  return folder && `styles-${/^(charts|first-steps)$/.test(folder) ? 'overview' : folder}`
}

/** Null for what is loaded on demand, or used by views of other folders too. */
function folderOfViews(id: string, modules: Rolldown.ChunkingContext): string | null {
  const [, folder = null] = foldersOfViews.exec(id) ?? []
  const { importers = [], dynamicImporters = [] } = modules.getModuleInfo(id) ?? {}
  const isOwn =
    importers.every((importer) => foldersOfViews.exec(importer)?.[1] === folder) &&
    dynamicImporters.every((importer) => basename(importer) === 'router.tsx')
  return isOwn ? folder : null
}

async function store(folder: string, output: Output): Promise<AssetFile> {
  const name = output.fileName
  const body = Buffer.from(output.type === 'chunk' ? output.code : output.source)
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
    promisify(gzip)(body, { level: gzipLevel }),
  ])
  replaceFile(join(folder, name), body)
  replaceFile(join(folder, `${name}.br`), br)
  replaceFile(join(folder, `${name}.gz`), gz)
  const type = types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
  return { type, bytes: body.length, brBytes: br.length, gzBytes: gz.length }
}

function replaceFile(file: string, body: Uint8Array | string): void {
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, body)
  renameSync(temporary, file)
}

function importedOf(outputs: Output[]): string[] {
  const modules = outputs.flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []))
  return modules
    .map((id) => relative(root, id))
    .filter((path) => path.startsWith('src/') && !path.startsWith('src/console/ui/'))
    .sort()
}

function entriesOf(outputs: Output[]): Pick<ConsoleManifest, 'entries' | 'groups'> {
  const chunks = outputs.filter((output) => output.type === 'chunk')
  const main = nameOf(/^main-.*\.js$/, outputs)
  const views = chunks.flatMap(({ fileName, moduleIds }) =>
    moduleIds.flatMap((id) => {
      const [, folder, view] = /ui\/views\/([\w-]+)\/([\w-]+)-view\.tsx$/.exec(id) ?? []
      return folder && view ? [{ folder, view, fileName }] : []
    }),
  )
  const shell = nameOf(/^shell-.*\.js$/, outputs)
  const groups: Record<string, string[]> = {}
  for (const { folder, view, fileName } of views) {
    // A page such as /calls waits for the view of its name alone; the pages below it, such as a call's, for all.
    const isBelow = view !== folder && views.some((other) => other.view === folder)
    for (const group of isBelow ? [`${folder}/`] : [folder, `${folder}/`]) {
      // The frame of a project's pages is none of the pages before them.
      const frame = folder === 'entry' ? [] : withImports(shell, chunks)
      groups[group] = withImports(fileName, chunks, groups[group] ?? frame)
    }
  }
  return {
    entries: {
      main,
      boot: nameOf(/^boot-/, outputs),
      styles: nameOf(/^main-.*\.css$/, outputs),
      icon: nameOf(/\.svg$/, outputs),
      font: nameOf(/^inter-.*\.woff2$/, outputs),
    },
    groups: Object.fromEntries(
      Object.entries(groups).map(([folder, names]) => [
        folder,
        names.filter((name) => name !== main && !/^main-.*\.css$/.test(name)),
      ]),
    ),
  }
}

function nameOf(form: RegExp, outputs: Output[]): string {
  const [output, ...others] = outputs.filter(({ fileName }) => form.test(fileName))
  if (!output || others.length > 0) throw new Error(`The bundle must have one file like ${form}`)
  return output.fileName
}

/** `found`, and a file with everything that it imports statically, directly or not. */
function withImports(name: string, chunks: Rolldown.OutputChunk[], found: string[] = []): string[] {
  if (found.includes(name)) return found
  const chunk = chunks.find(({ fileName }) => fileName === name)
  const { imports = [], viteMetadata } = chunk ?? {}
  const styles = [...(viteMetadata?.importedCss ?? [])]
  return imports.reduce((known, next) => withImports(next, chunks, known), [...found, ...styles, name])
}

function sorted(files: Record<string, AssetFile>): Record<string, AssetFile> {
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function removeOthers(folder: string, { files }: ConsoleManifest): void {
  const wanted = new Set([
    'manifest.json',
    ...Object.keys(files).flatMap((name) => [name, `${name}.br`, `${name}.gz`]),
  ])
  for (const name of readdirSync(folder)) {
    // Temporary files belong to another build.
    if (!wanted.has(name) && !name.endsWith('.tmp')) rmSync(join(folder, name), { force: true })
  }
}

function report({ manifest }: ConsoleBuild): string {
  const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1).padStart(8)} kB`
  return [
    ...Object.entries(manifest.files).map(
      ([name, { bytes, brBytes }]) => `${kilobytes(bytes)} ${kilobytes(brBytes)} br  ${name}`,
    ),
    ...Object.entries(firstLoadBytesMax).map(
      ([page, max]) => `${kilobytes(firstLoadBytes(manifest, page))} ${kilobytes(max)} at most: ${page}`,
    ),
  ].join('\n')
}

/** With `--keep-going` a failure is only reported: the API works without the page, so installing and starting go on. */
async function main(): Promise<void> {
  const isAsked = !process.argv.includes('--keep-going')
  try {
    const build = await buildConsole()
    if (build.built) process.stdout.write(`${isAsked ? report(build) : 'The console is built.'}\n`)
  } catch (error) {
    const reason = error instanceof AggregateError ? error.errors.map(String).join('\n') : String(error)
    process.stderr.write(`The console could not be built; try \`bun run build\`.\n${reason}\n`)
    if (isAsked) process.exitCode = 1
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) await main()
