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
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { AssetFile, ConsoleManifest } from '../src/console/assets.ts'
import { groupsOfPages } from './console-groups.ts'

// Bundles the console's page for browsers: `bun run build`, and before a start if anything changed.

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'src', 'console', 'ui')
const assetsPath = '/console/assets/'
/** Limit for the compressed script, styles and typeface that a page loads before it shows anything. */
export const firstLoadBytesMax = 260_000

/** Groups of views whose scripts the page asks for before its program runs. */
const groupsAtOnce = ['overview', 'calls', 'knowledge', 'questions', 'playground', 'settings']

/** Groups that are loaded along with another. A call is usually opened soon after the list is shown. */
const loadedWith: Record<string, string> = { calls: 'call' }

/** The typeface, under the name in the style sheet. */
const fontFile = 'inter-4.1.woff2'

/** The component library's colours that the console does not use. */
const unusedColours = /--mantine-color-(?:cyan|grape|green|indigo|lime|orange|pink)-[\w-]+: ?[^;}]+;?/g

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
  const digest = digestOfInputs()
  const manifestFile = join(folder, 'manifest.json')
  const existing = readManifest(manifestFile)
  if (existing?.digest === digest && isComplete(folder, existing)) return { built: false, manifest: existing }

  const scripts = await bundle()
  const outputs = [...scripts, stylesFor(scripts), ...staticFiles()]
  mkdirSync(folder, { recursive: true })
  const files: Record<string, AssetFile> = {}
  await Promise.all(
    outputs.map(async ({ name, body }) => {
      files[name] = await store(folder, name, body)
    }),
  )
  const manifest: ConsoleManifest = {
    digest,
    ...entriesOf(outputs),
    firstLoadBytes: {
      signIn: loadedBytes('entry', outputs, files),
      overview: loadedBytes('overview', outputs, files),
      calls: loadedBytes('calls', outputs, files),
    },
    files: sorted(files),
  }
  // Last, so that the manifest never names a missing file.
  replaceFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`)
  removeOthers(folder, manifest)
  return { built: true, manifest }
}

interface Output {
  /** `main-1a2b3c4d.js` */
  name: string
  body: Uint8Array
  /** `main`; null for a chunk that several files share. */
  source: string | null
  /** Names of the files that it imports statically. */
  imports: string[]
}

function digestOfInputs(): string {
  const hash = createHash('sha256').update(Bun.version)
  const others = [
    fileURLToPath(import.meta.url),
    join(root, 'scripts', 'console-groups.ts'),
    join(root, 'bun.lock'),
  ]
  for (const file of [...others, ...filesUnder(sources)]) {
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

/** The page's program in chunks that are loaded on demand, and the script that runs before it. */
async function bundle(): Promise<Output[]> {
  const common = {
    minify: true,
    target: 'browser',
    publicPath: assetsPath,
    define: { 'process.env.NODE_ENV': '"production"' },
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    metafile: true,
  } as const
  const built = await Promise.all([
    Bun.build({
      ...common,
      entrypoints: [join(sources, 'main.tsx')],
      splitting: true,
      plugins: [groupsOfPages(sources)],
    }),
    Bun.build({ ...common, entrypoints: [join(sources, 'boot.ts')], format: 'iife' }),
  ])
  return (await Promise.all(built.map(outputsOf))).flat()
}

async function outputsOf({ outputs, metafile }: Bun.BuildOutput): Promise<Output[]> {
  return Promise.all(
    outputs.map(async (output) => {
      const name = basename(output.path)
      const facts = metafile?.outputs[`./${name}`]
      return {
        name,
        body: new Uint8Array(await output.arrayBuffer()),
        source: sourceOf(facts?.entryPoint ?? null),
        imports: (facts?.imports ?? [])
          .filter(({ kind }) => kind === 'import-statement')
          .map(({ path }) => basename(path)),
      }
    }),
  )
}

function sourceOf(file: string | null): string | null {
  // `group:calls` is made of the views in one folder.
  return file === null
    ? null
    : basename(file)
        .replace(/^group:/, '')
        .replace(/\..*/, '')
}

function staticFiles(): Output[] {
  const icon = readFileSync(join(sources, 'icon.svg'))
  const font = readFileSync(join(sources, 'fonts', fontFile))
  return [
    { name: `icon-${hashOf(icon)}.svg`, body: icon, source: 'icon', imports: [] },
    { name: fontFile, body: font, source: 'font', imports: [] },
  ]
}

/**
 * The style sheet, without the component library's rules for unused components. Not made by the bundler, which writes
 * each right-to-left rule four times for browsers that the page does not support.
 */
function stylesFor(scripts: Output[]): Output {
  const classForm = /\bm_[0-9a-f]{6,8}\b/g
  const texts = scripts.map(({ body }) => Buffer.from(body).toString())
  const used = new Set(texts.flatMap((script) => script.match(classForm) ?? []))
  const rules = rulesOf(readStyles(join(sources, 'styles.css'))).filter((rule) => {
    const classes = rule.match(classForm)
    return classes === null || classes.some((name) => used.has(name))
  })
  const body = Buffer.from(rules.join('').replace(unusedColours, ''))
  return { name: `styles-${hashOf(body)}.css`, body, source: 'styles', imports: [] }
}

/** A style sheet with its imports inlined, without comments, at a scale of 1. */
function readStyles(file: string): string {
  const { resolve } = createRequire(file)
  return readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/@import "([^"]+)";/g, (_, target: string) => readStyles(resolve(target)))
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};]) ?/g, '$1')
    .replace(/calc\((-?[\d.]+rem) \* var\(--mantine-scale\)\)/g, '$1')
}

/** The rules of a style sheet. An at-rule with a block is one rule. */
function rulesOf(css: string): string[] {
  const rules: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < css.length; at++) {
    const sign = css[at]
    if (sign === '{') depth++
    if (sign === '}') depth--
    if (depth > 0 || (sign !== '}' && sign !== ';')) continue
    rules.push(css.slice(start, at + 1))
    start = at + 1
  }
  return [...rules, css.slice(start)]
}

function hashOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 8)
}

async function store(folder: string, name: string, body: Uint8Array): Promise<AssetFile> {
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

function entriesOf(outputs: Output[]): Pick<ConsoleManifest, 'entries' | 'preloads' | 'groups'> {
  const main = nameOf('main', outputs)
  const first = reachable(main, outputs)
  const scriptsOf = (group: string) => reachableFrom(group, outputs).filter((name) => !first.has(name))
  return {
    entries: {
      main,
      boot: nameOf('boot', outputs),
      styles: nameOf('styles', outputs),
      icon: nameOf('icon', outputs),
      font: nameOf('font', outputs),
    },
    preloads: [...first].filter((name) => name !== main).sort(),
    groups: Object.fromEntries(groupsAtOnce.map((group) => [group, scriptsOf(group)])),
  }
}

/** The file built from a source: `main-1a2b3c4d.js` for `main`. */
function nameOf(source: string, outputs: Output[]): string {
  const output = outputs.find((candidate) => candidate.source === source)
  if (!output) throw new Error(`The bundle has no ${source}`)
  return output.name
}

/** The bytes of a page: what all pages load, and its own group of views. */
function loadedBytes(group: string, outputs: Output[], files: Record<string, AssetFile>): number {
  const sources = ['boot', 'styles', 'font', 'main', group]
  const names = new Set(sources.flatMap((source) => reachableFrom(source, outputs)))
  return [...names].reduce((sum, name) => sum + (files[name]?.brBytes ?? 0), 0)
}

/** A source's file, the file loaded along with it, and everything that they import. */
function reachableFrom(source: string, outputs: Output[]): string[] {
  const found = reachable(nameOf(source, outputs), outputs)
  const other = loadedWith[source]
  return [...(other ? reachable(nameOf(other, outputs), outputs, found) : found)]
}

/** A file and everything that it imports statically, directly or not. */
function reachable(name: string, outputs: Output[], found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const next of outputs.find((output) => output.name === name)?.imports ?? [])
    reachable(next, outputs, found)
  return found
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
  const lines = Object.entries(manifest.files).map(
    ([name, { bytes, brBytes }]) => `${kilobytes(bytes)} ${kilobytes(brBytes)} br  ${name}`,
  )
  const { signIn, overview, calls } = manifest.firstLoadBytes
  return [
    ...lines,
    `${kilobytes(signIn)} br before the sign-in page, ${kilobytes(overview).trim()} before the overview, ` +
      `${kilobytes(calls).trim()} before the calls; at most ${firstLoadBytesMax / 1_000} kB`,
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
