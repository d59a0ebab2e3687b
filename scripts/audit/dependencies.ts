import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import allowed from './install-scripts.json' with { type: 'json' }

interface AuditOptions {
  packageJson: string
  lockfile: string
  /** `node_modules`, as installed. */
  folder: string
}

interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  trustedDependencies?: string[]
}

const exact = /^\d+\.\d+\.\d+(-[\w.-]+)?$/
const installScripts = ['preinstall', 'install', 'postinstall'] as const
/** None requires publishing our source. MPL-2.0 requires it only for changes to its own files, and we make none. */
const licencesAllowed = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT or MPL-2.0',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

interface Audit {
  /** What is wrong with the dependencies, one sentence each. */
  faults: string[]
  /** How many packages are installed under each licence, the most frequent first. */
  licences: [string, number][]
}

/** Audits every package of the lockfile, and every one installed here, wherever it is nested. */
export function auditDependencies({ packageJson, lockfile, folder }: AuditOptions): Audit {
  const manifest: Manifest = JSON.parse(packageJson)
  const locked = parseLockfile(lockfile)
  const installed = packagesIn(folder)
  const faults = [
    ...auditManifest(manifest),
    ...auditLockfile(locked, manifest),
    ...installed.flatMap((found) => auditInstalled(found, locked)),
  ]
  const counts = Map.groupBy(installed, ({ licence }) => licence)
  const licences = [...counts].map(([licence, { length }]): [string, number] => [licence, length])
  return { faults, licences: licences.sort(([, a], [, b]) => b - a) }
}

function auditManifest({ dependencies, devDependencies, trustedDependencies }: Manifest): string[] {
  const faults = Object.entries({ ...dependencies, ...devDependencies })
    .filter(([, version]) => !exact.test(version))
    .map(([name, version]) => `package.json: ${name} is ${version}, which is not one exact version`)
  if (trustedDependencies?.length !== 0)
    faults.push(
      'package.json: trustedDependencies must be [], so that no package runs anything when it is installed',
    )
  return faults
}

/** Every package comes from the registry, in one version, with the digest that it had when it was added. */
function auditLockfile({ packages, workspaces }: Lockfile, manifest: Manifest): string[] {
  const faults: string[] = []
  for (const [name, entry] of Object.entries(packages)) {
    const [resolved, registry, , integrity] = entry
    const version = String(resolved).slice(String(resolved).lastIndexOf('@') + 1)
    if (!exact.test(version))
      faults.push(`bun.lock: ${name} is ${resolved}, which is not a version of the registry`)
    if (registry !== '') faults.push(`bun.lock: ${name} comes from ${registry}`)
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(String(integrity)))
      faults.push(`bun.lock: ${name} has no SHA-512 digest`)
  }
  for (const kind of ['dependencies', 'devDependencies'] as const) {
    if (JSON.stringify(sorted(workspaces['']?.[kind])) !== JSON.stringify(sorted(manifest[kind])))
      faults.push(`bun.lock: its ${kind} are not those of package.json`)
  }
  return faults
}

interface Lockfile {
  workspaces: Record<string, Manifest>
  packages: Record<string, unknown[]>
}

/** JSON with trailing commas. */
function parseLockfile(text: string): Lockfile {
  return JSON.parse(text.replace(/,(\s*[\]}])/g, '$1'))
}

function sorted(versions: Record<string, string> = {}): [string, string][] {
  return Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1))
}

function auditInstalled(
  { key, name, version, licence, scripts }: Installed,
  { packages }: Lockfile,
): string[] {
  const faults: string[] = []
  if (packages[key]?.[0] !== `${name}@${version}`)
    faults.push(`${key} ${version} is installed, but not in bun.lock`)
  // Every package with an install script was reviewed once.
  const known: Record<string, string> = allowed
  if (scripts.length > 0 && known[name] === undefined)
    faults.push(
      `${key} has ${scripts.join(', ')}: look at it, and add it to scripts/audit/install-scripts.json`,
    )
  if (!isAllowed(licence))
    faults.push(`${key} has the licence ${licence}, which is not on the list of those allowed`)
  return faults
}

/** @param licence an SPDX expression; one that mixes AND and OR is not supported */
function isAllowed(licence: string): boolean {
  const has = (one: string) => licencesAllowed.has(one)
  const expression = licence.replace(/^\((.*)\)$/, '$1')
  return expression.split(' OR ').some(has) || expression.split(' AND ').every(has)
}

interface Installed {
  /** As in the lockfile: the names of the packages around it, and its own. */
  key: string
  name: string
  version: string
  licence: string
  /** Its install scripts. */
  scripts: string[]
}

function packagesIn(folder: string, parent = ''): Installed[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((entry) => !entry.startsWith('.'))
    .flatMap((entry) =>
      entry.startsWith('@') ? readdirSync(join(folder, entry)).map((one) => `${entry}/${one}`) : entry,
    )
    .filter((name) => existsSync(join(folder, name, 'package.json')))
    .flatMap((name) => [
      readPackage(join(folder, name), parent + name, name),
      ...packagesIn(join(folder, name, 'node_modules'), `${parent}${name}/`),
    ])
}

function readPackage(folder: string, key: string, name: string): Installed {
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  const manifest: { version?: string; license?: unknown; scripts?: Record<string, string> } = JSON.parse(text)
  const scripts: string[] = installScripts.filter((script) => manifest.scripts?.[script] !== undefined)
  // npm runs node-gyp for such a package.
  if (existsSync(join(folder, 'binding.gyp'))) scripts.push('binding.gyp')
  const licence = typeof manifest.license === 'string' ? manifest.license : 'not named in package.json'
  return { key, name, version: manifest.version ?? '', licence, scripts }
}
