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

/** What is wrong with the dependencies, a sentence each. */
export function auditDependencies({ packageJson, lockfile, folder }: AuditOptions): string[] {
  const manifest: Manifest = JSON.parse(packageJson)
  return [...auditManifest(manifest), ...auditLockfile(lockfile, manifest), ...auditScripts(folder)]
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
function auditLockfile(lockfile: string, manifest: Manifest): string[] {
  const { packages, workspaces } = parseLockfile(lockfile)
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

/** JSON but for the commas at the ends. */
function parseLockfile(text: string): Lockfile {
  return JSON.parse(text.replace(/,(\s*[\]}])/g, '$1'))
}

function sorted(versions: Record<string, string> = {}): [string, string][] {
  return Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Packages that would like to run something when they are installed were each looked at once. */
function auditScripts(folder: string): string[] {
  const known: Record<string, string> = allowed
  return packagesIn(folder).flatMap((name) => {
    const text = readFileSync(join(folder, name, 'package.json'), 'utf8')
    const { scripts = {} }: { scripts?: Record<string, string> } = JSON.parse(text)
    const wanted: string[] = installScripts.filter((script) => scripts[script] !== undefined)
    // npm would run node-gyp for it.
    if (existsSync(join(folder, name, 'binding.gyp'))) wanted.push('binding.gyp')
    if (wanted.length === 0 || known[name] !== undefined) return []
    return `${name} has ${wanted.join(', ')}: look at it, and add it to scripts/audit/install-scripts.json`
  })
}

function packagesIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'))
  return names
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : name,
    )
    .filter((name) => existsSync(join(folder, name, 'package.json')))
}
