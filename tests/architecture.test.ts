import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importsOf, partOf, resolveImport } from '../scripts/imports.ts'
import { coreOver } from './support/core.ts'
import { openFreshDatabase } from './support/database.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** The floors of the house, from the ground: a feature may know those below it, at run time their schemas only. */
const features = [
  'audit',
  'erasure',
  'projects',
  'access',
  'calls',
  'recordings',
  'knowledge',
  'webhooks',
  'alerts',
  'analysis',
  'cases',
  'privacy',
  'agents',
  'sources',
  'changes',
  'demo',
  'console',
]
/** The one file of each that builds its parts. */
const opens = /^src\/([a-z]+)\/open-\1\.ts$/
const starts = ['src/main.ts', 'src/node.ts', 'src/deno.ts', 'src/start/start.ts']

interface SourceFile {
  /** From the project's root, such as `src/calls/routes.ts`. */
  path: string
  /** Without types and comments. */
  code: string
  /** Everything it imports, types too: packages by name, files by path. */
  imports: string[]
  /** What it imports at run time, without types. */
  runtimeImports: string[]
}

const transpilers = {
  ts: new Bun.Transpiler({ loader: 'ts', target: 'bun' }),
  tsx: new Bun.Transpiler({ loader: 'tsx', target: 'bun' }),
}
const everything = [...new Bun.Glob('{src,scripts}/**/*.{ts,tsx}').scanSync(root)].sort().map(readSource)
/** The page: a program of its own, which runs in browsers. */
const page = everything.filter(({ path }) => isOfPage(path))
const files = everything.filter(({ path }) => !isOfPage(path))
const source = files.filter(({ path }) => path.startsWith('src/'))

function isOfPage(path: string): boolean {
  return path.startsWith('src/console/ui/')
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  const transpiler = transpilers[path.endsWith('.tsx') ? 'tsx' : 'ts']
  const runtimeImports = transpiler.scanImports(text).map((found) => resolveImport(path, found.path))
  const imports = [...new Set([...runtimeImports, ...importsOf(path, text)])]
  return { path, code: transpiler.transformSync(text), imports, runtimeImports }
}

/** The only files of a feature that know of HTTP. */
function isHttpFile(path: string): boolean {
  return partOf(path) === 'http' || /\/([a-z-]+-)?(routes|response|docs)\.ts$/.test(path)
}

/** Packages that only a service can run. */
function isOfServers(target: string): boolean {
  return /^(node:|bun\b|elysia|drizzle|libsql|@libsql|better-auth(?!\/client)|pino)/.test(target)
}

/** Imports that a file may not have, as `file -> import`; types count, unless `which` says otherwise. */
function breaches(
  of: SourceFile[],
  isForbidden: (target: string, file: SourceFile) => boolean,
  which: 'imports' | 'runtimeImports' = 'imports',
): string[] {
  return of.flatMap((file) =>
    file[which].filter((target) => isForbidden(target, file)).map((target) => `${file.path} -> ${target}`),
  )
}

function isOtherFeature(target: string, { path }: SourceFile): boolean {
  const other = partOf(target)
  return other !== null && features.includes(other) && other !== partOf(path)
}

/** Lines of running code that match, as `file: line`. */
function linesLike(pattern: RegExp, of: SourceFile[]): string[] {
  return of.flatMap(({ path, code }) =>
    code.split('\n').flatMap((line) => (pattern.test(line) ? [`${path}: ${line.trim()}`] : [])),
  )
}

const domain = source.filter(({ path }) => features.includes(partOf(path) ?? '') && !isHttpFile(path))

describe('who may import whom', () => {
  test('these rules see the imports that there are', () => {
    expect(files.length).toBeGreaterThan(50)
    const server = source.find(({ path }) => path === 'src/server.ts')
    expect(server?.imports).toContain('src/calls/routes.ts')
    expect(server?.imports).toContain('elysia')
    expect(server?.imports).toContain('src/services/services.ts')
    expect(server?.runtimeImports).not.toContain('src/services/services.ts')
  })

  test('nothing imports what starts the service', () => {
    expect(
      breaches(
        files.filter(({ path }) => !starts.includes(path)),
        (target) => starts.includes(target),
      ),
    ).toEqual([])
  })

  test('only starts and scripts import the services and the server; the server takes the type of the services', () => {
    const others = files.filter(({ path }) => !/^(scripts|src\/start)\//.test(path) && !starts.includes(path))
    expect(
      breaches(
        others,
        (target, { path }) =>
          target === 'src/server.ts' || (target === 'src/services/services.ts' && path !== 'src/server.ts'),
      ),
    ).toEqual([])
    expect(breaches(others, (target) => target === 'src/services/services.ts', 'runtimeImports')).toEqual([])
  })

  test('features know only the floors below them', () => {
    const inFeatures = source.filter(({ path }) => features.includes(partOf(path) ?? ''))
    const floorOf = (path: string) => features.indexOf(partOf(path) ?? '')
    const isAbove = (target: string, { path }: SourceFile) => floorOf(target) > floorOf(path)
    expect(breaches(inFeatures, isAbove)).toEqual([])
  })

  // The audit trail belongs to the ground: an audit entry is part of the batch that does the work. The console and the
  // agents' protocols check requests by the schemas of others, and agents are told passages as they are embedded.
  test('at run time a feature uses no other but what it is given, and only one file builds its parts', () => {
    const inFeatures = source.filter(({ path }) => features.includes(partOf(path) ?? '') && !opens.test(path))
    const isUsed = (target: string, file: SourceFile) =>
      isOtherFeature(target, file) &&
      partOf(target) !== 'audit' &&
      !(['console', 'agents'].includes(partOf(file.path) ?? '') && /\/(schemas|docs|chunk)\.ts$/.test(target))
    expect(breaches(inFeatures, isUsed, 'runtimeImports')).toEqual([])
    const others = source.filter(({ path }) => path !== 'src/services/services.ts')
    expect(breaches(others, (target) => opens.test(target), 'runtimeImports')).toEqual([])
  })

  test('work in the background is a job: nothing of a feature makes its own loop, timer or lease', () => {
    // What is still to be converted.
    const left = [
      'src/changes/change-watch.ts',
      'src/erasure/sweeper.ts',
      'src/knowledge/indexing/index/indexes.ts',
      'src/knowledge/indexing/index/project-index.ts',
      'src/knowledge/questions/questions.ts',
    ]
    const inFeatures = source.filter(({ path }) => features.includes(partOf(path) ?? ''))
    const loops = linesLike(/\bnew Background\(/, inFeatures).map((line) => line.split(':')[0] ?? '')
    expect(loops.sort()).toEqual(left)
    expect(breaches(inFeatures, (target) => target === 'src/core/lease.ts')).toEqual([])
    // Both watch one piece of work, and end with it.
    const intervals = linesLike(/\bsetInterval\(/, inFeatures).map((line) => line.split(':')[0])
    expect(intervals).toEqual(['src/knowledge/files/file-reader.ts', 'src/knowledge/indexing/leases.ts'])
  })

  test('a part takes the core whole: no class of a feature lists again what the core has', async () => {
    const { database, close } = await openFreshDatabase()
    const ofCore = Object.keys(await coreOver(database, () => undefined))
    await close()
    const inFeatures = source.filter(({ path }) => features.includes(partOf(path) ?? ''))
    const repeated = inFeatures.flatMap(({ path }) => {
      const text = readFileSync(join(root, path), 'utf8')
      return [...text.matchAll(/interface (\w+) (?:extends [^{]+)?\{\n(.*?)\n\}/gs)]
        .filter(([, name]) => new RegExp(`constructor\\([^)]*\\b${name}\\b`).test(text))
        .flatMap(([, name, body = '']) =>
          [...body.matchAll(/^ {2}(\w+)\??[:(]/gm)].map(([, member = '']) => ({ name, member })),
        )
        .filter(({ member }) => ofCore.includes(member))
        .map(({ name, member }) => `${path}: ${name}.${member}`)
    })
    expect(repeated.sort()).toEqual([
      // Is opened before the core.
      'src/analysis/chat-model.ts: ChatModelOptions.now',
      // Is a part of the core.
      ...['log', 'now', 'read', 'recordHash', 'store', 'write'].map(
        (member) => `src/audit/audit-trail.ts: AuditTrailOptions.${member}`,
      ),
      // Work on fakes, and with files.
      ...['database', 'log', 'owner'].map((member) => `src/erasure/sweeper.ts: SweeperOptions.${member}`),
      'src/knowledge/indexing/index/project-index.ts: ProjectIndexOptions.log',
      'src/recordings/bucket-files.ts: BucketOptions.generation',
    ])
  })

  test('the page of the services fits on a page, and the core stands on the ground alone', () => {
    const page = readFileSync(join(root, 'src/services/services.ts'), 'utf8')
    expect(page.split('\n').length).toBeLessThanOrEqual(200)
    const ground = ['core', 'config', 'db', 'threads', 'observability', 'audit']
    const ofCore = source.filter(({ path }) => partOf(path) === 'core')
    const isAbove = (target: string) => !ground.includes(partOf(target) ?? 'core')
    expect(breaches(ofCore, isAbove)).toEqual([])
  })

  test('the console is a leaf: only the server and the page that opens it import from it, types included', () => {
    const mayImport = ['src/server.ts', 'src/services/services.ts']
    const others = source.filter(({ path }) => partOf(path) !== 'console' && !mayImport.includes(path))
    expect(breaches(others, (target) => partOf(target) === 'console')).toEqual([])
  })

  test('domain files rest on the database, the threads, the log and the pure modules, and know no HTTP', () => {
    const below = [
      'core',
      'db',
      'threads',
      'observability',
      'errors',
      'ids',
      'identity',
      'names',
      'shared-limit',
      'limits',
      'validation',
      'version',
      'tags',
      'text',
      'redaction',
      'mcp',
      ...features,
    ]
    expect(
      breaches(domain, (target, { path }) => {
        const part = partOf(target)
        return part !== null && part !== partOf(path) && !below.includes(part)
      }),
    ).toEqual([])
    expect(breaches(domain, (target) => /^@?elysia/.test(target) || isHttpFile(target))).toEqual([])
  })

  test('only src/http, the routes and the server know Elysia', () => {
    const others = source.filter(({ path }) => !isHttpFile(path) && path !== 'src/server.ts')
    expect(breaches(others, (target) => /^@?elysia/.test(target))).toEqual([])
  })

  test('src/http knows no feature but the pure rules of keys and addresses, and no database', () => {
    const pure = ['src/access/keys/token.ts', 'src/access/keys/ip-rules.ts']
    const http = source.filter(({ path }) => partOf(path) === 'http')
    expect(
      breaches(http, (target) => {
        const part = partOf(target)
        const below = [
          'face',
          'http',
          'observability',
          'errors',
          'ids',
          'identity',
          'names',
          'shared-limit',
          'limits',
          'validation',
          'version',
        ]
        return part !== null && !below.includes(part) && !pure.includes(target)
      }),
    ).toEqual([])
  })

  test('routes reach no database: they call one verb of their feature', () => {
    const routes = source.filter(({ path }) => isHttpFile(path))
    expect(breaches(routes, (target) => /drizzle|libsql|^src\/(db|services|config)\b/.test(target))).toEqual(
      [],
    )
  })

  test('the database, the log and the metrics know nothing above them', () => {
    const below = source.filter(({ path }) => ['db', 'observability'].includes(partOf(path) ?? ''))
    expect(
      breaches(below, (target, { path }) => {
        const part = partOf(target)
        return (
          part !== null && part !== partOf(path) && !['errors', 'threads', 'text', 'version'].includes(part)
        )
      }),
    ).toEqual([])
  })

  test('the threads rest on the errors alone, and nothing else starts a worker', () => {
    const threads = source.filter(({ path }) => partOf(path) === 'threads')
    expect(breaches(threads, (target) => !['threads', 'errors', null].includes(partOf(target)))).toEqual([])
    const others = files.filter(({ path }) => path !== 'src/threads/thread.ts')
    expect(linesLike(/\bnew Worker\(/, others)).toEqual([])
  })

  test('the pure modules stand on nothing of ours; the validation on the errors and limits, the configuration on the rules of names', () => {
    const base = source.filter(({ path }) =>
      /^src\/((errors|ids|identity|names|config|limits|shared-limit|validation)\.ts$|text\/)/.test(path),
    )
    expect(
      breaches(base, (target, { path }) => {
        const [part, own] = [partOf(target), partOf(path)]
        const allowed = { validation: ['errors', 'limits'], config: ['names'] }[own ?? ''] ?? []
        return part !== null && part !== own && !allowed.includes(part)
      }),
    ).toEqual([])
  })

  test('text is pure: it knows nothing but its stemmer', () => {
    const text = source.filter(({ path }) => partOf(path) === 'text')
    expect(text.length).toBeGreaterThan(3)
    expect(breaches(text, (target) => partOf(target) !== 'text' && target !== 'stemmer')).toEqual([])
  })

  test('only what opens the database names libSQL', () => {
    const mayOpen = /^src\/db\/|^src\/knowledge\/index\/|^scripts\//
    expect(
      breaches(
        files.filter(({ path }) => !mayOpen.test(path)),
        (target) => /libsql$|libsql\//.test(target) && !target.startsWith('drizzle-orm'),
      ),
    ).toEqual([])
  })

  test("only its own room knows the SDK of the models' protocol", () => {
    const others = source.filter(({ path }) => !path.startsWith('src/mcp/'))
    expect(breaches(others, (target) => target.startsWith('@modelcontextprotocol/'))).toEqual([])
  })

  test('the page imports nothing of the service but types, the rights of roles, the lists of filters and platforms, how values are separated, what a tag is, which scripts have no spaces, what verdicts make of a call, its talk timeline, its steps, where a case is cut, and nothing that browsers lack; nobody imports the page', () => {
    const shared = [
      'src/calls/filters.ts',
      'src/analysis/evaluation.ts',
      'src/calls/reading/steps.ts',
      'src/calls/reading/talk-timeline.ts',
      'src/cases/cut.ts',
      'src/text/unspaced-scripts.ts',
      'src/text/tags.ts',
      'src/text/values.ts',
      'src/sources/catalog.ts',
      'src/identity.ts',
    ]
    for (const path of shared) {
      const imports = source.find((file) => file.path === path)?.runtimeImports
      expect(imports?.filter((target) => !shared.includes(target))).toEqual([])
    }
    expect(
      breaches(
        page,
        (target) =>
          /^(src|scripts|tests)\//.test(target)
            ? !isOfPage(target) && !shared.includes(target)
            : isOfServers(target),
        'runtimeImports',
      ),
    ).toEqual([])
    expect(breaches(files, isOfPage)).toEqual([])
    expect(page.length).toBeGreaterThan(20)
  })

  test('there is no cycle, not of types either', () => {
    const importsOf = new Map([...source, ...page].map(({ path, imports }) => [path, imports]))
    const done = new Set<string>()
    const cycleFrom = (path: string, trail: string[]): string[] | null => {
      if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
      if (done.has(path)) return null
      for (const target of importsOf.get(path) ?? []) {
        const cycle = cycleFrom(target, [...trail, path])
        if (cycle) return cycle
      }
      done.add(path)
      return null
    }
    expect([...importsOf.keys()].map((path) => cycleFrom(path, [])).find(Boolean) ?? null).toBeNull()
  })
})

describe('what code may do', () => {
  test('no file hands on what another defines', () => {
    expect(linesLike(/^export (\*|\{[^}]*\}) from\b/, everything)).toEqual([])
    expect(
      everything.filter(({ path }) => /(^|\/)index\.ts$/.test(path) && !path.startsWith('scripts/commands/')),
    ).toEqual([])
  })

  test('no module has state: no variable, and no container that is ever changed', () => {
    // What nobody imports is a program: its state is its own, as that of a worker is.
    const imported = new Set(everything.flatMap(({ runtimeImports }) => runtimeImports))
    const modules = everything.filter(({ path }) => imported.has(path))
    expect(linesLike(/^(export )?(let|var) /, modules)).toEqual([])
    const changed = modules.flatMap(({ path, code }) => {
      const names = [...code.matchAll(/^(?:export )?const (\w+) = (?:new \w|\[|\{)/gm)].map(
        ([, name]) => name,
      )
      return names
        .filter((name) => {
          const change = `\\b${name}(\\.(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|append)\\(|(\\.\\w+|\\[[^\\]]+\\]) ?([-+*/|&?]*=[^=>]|\\+\\+|--))`
          return new RegExp(change).test(code)
        })
        .map((name) => `${path}: ${name}`)
    })
    expect(changed).toEqual([])
  })

  test('only starts and scripts read the environment', () => {
    const others = [...source, ...page].filter(({ path }) => !starts.includes(path))
    expect(linesLike(/\bprocess\.env\b/, others)).toEqual([])
  })

  test('only src/main.ts knows Bun', () => {
    const others = [...source, ...page].filter(({ path }) => path !== 'src/main.ts')
    expect(linesLike(/\bBun\./, others)).toEqual([])
    expect(breaches(others, (target) => target === 'bun' || target.startsWith('bun:'))).toEqual([])
  })

  test('time and chance are handed in: features ask no clock but to wait for what is outside the machine', () => {
    const outside = 'src/knowledge/embedding/'
    const judged = source.filter(
      ({ path }) => features.includes(partOf(path) ?? '') && !path.startsWith(outside),
    )
    expect(linesLike(/\b(Date\.now|Math\.random)\(|new Date\(\)/, judged)).toEqual([])
  })

  test('nothing but the log writes, and nothing is left that was there to debug', () => {
    const others = [...source, ...page].filter(({ path }) => !starts.includes(path))
    expect(linesLike(/\bconsole\.\w+\(|\bdebugger\b/, others)).toEqual([])
  })

  test('no object or array is spread where it is written, only to keep a line short', () => {
    const written = [...new Bun.Glob('{src,scripts,tests}/**/*.{ts,tsx}').scanSync(root)]
    const spread = /\.\.\.(\{|\[[^[\]]*\](?![.[:]))/
    expect(spread.test('f({ ...{ a, b }, ...[1, 2] })')).toBe(true)
    const lines = written.flatMap((path) =>
      path === 'tests/architecture.test.ts' ? [] : readFileSync(join(root, path), 'utf8').split('\n'),
    )
    expect(lines.filter((line) => spread.test(line))).toEqual([])
  })

  test('what a file exports is imported by another that is no test, but for the tables', () => {
    const form =
      /^(?:import|export) [^'"]*?(?:\{([^}]*)\}|\* as \w+) from '(\.[^']+)'|import\('(\.[^']+)'\)/gm
    const imported = new Set(
      everything.flatMap(({ path }) =>
        [...readFileSync(join(root, path), 'utf8').matchAll(form)].flatMap(([, names = '*', from, lazy]) => {
          const target = resolveImport(path, from ?? lazy ?? '')
          return names.split(',').map((name) => `${target}: ${name.trim().replace(/^type | as .*$/g, '')}`)
        }),
      ),
    )
    const exported = [...source, ...page].flatMap(({ path, code }) => {
      // Ranking is tested with its words.
      if (imported.has(`${path}: *`) || /db\/schema\.ts$|search\/passage-words\.ts$/.test(path)) return []
      const names = code.matchAll(/^export (?:async )?(?:const|function\*?|class) (\w+)/gm)
      return [...names].map(([, name]) => `${path}: ${name}`)
    })
    expect(exported.length).toBeGreaterThan(500)
    expect(exported.filter((name) => !imported.has(name))).toEqual([])
  })

  test('the compiler is not told to look away', () => {
    const told = everything.filter(({ path }) =>
      /@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(readFileSync(join(root, path), 'utf8')),
    )
    expect(told.map(({ path }) => path)).toEqual([])
  })

  test('tables are defined in one file, and every table there is has its migration', () => {
    expect(
      linesLike(/\bsqliteTable\(/, source).filter((line) => !line.startsWith('src/db/schema.ts')),
    ).toEqual([])
    const schema = source.find(({ path }) => path === 'src/db/schema.ts')?.code ?? ''
    const tables = [...schema.matchAll(/sqliteTable\(\s*"(\w+)"/g)].map(([, name]) => name)
    const migrations = [...new Bun.Glob('src/db/migrations/*.sql').scanSync(root)]
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n')
    expect(tables.length).toBeGreaterThan(5)
    for (const table of tables) expect(migrations).toContain(`CREATE TABLE \`${table}\``)
  })
})
