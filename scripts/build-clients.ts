import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../package.json' with { type: 'json' }
import { readDocument } from './document.ts'
import { pythonCommands } from './python.ts'
import { typesOf } from './typescript-types.ts'

// Builds the packages of the TypeScript and Python clients in `dist/clients`: `bun run build:clients`.

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'scripts', 'clients')
const { version, license, devDependencies } = packageJson

const published = {
  name: 'callbook-client',
  version,
  description: 'The typed client of Callbook, the open, self-hosted system of record for voice agents.',
  license,
  type: 'module',
  exports: { types: './index.d.ts', default: './index.js' },
  dependencies: { 'openapi-fetch': devDependencies['openapi-fetch'] },
}

if (import.meta.main) {
  const target = join(root, 'dist', 'clients')
  await buildClients({ target })
  process.stdout.write(`Both are in ${target}.\n`)
}

interface BuildOptions {
  /** Replaced. */
  target: string
}

/** @throws when Python or its packages are missing */
export async function buildClients({ target }: BuildOptions): Promise<void> {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const document = await readDocument()
  const file = join(target, 'openapi.json')
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`)
  const typescript = join(target, 'typescript')
  cpSync(join(sources, 'typescript'), typescript, { recursive: true })
  cpSync(join(root, 'LICENSE'), join(typescript, 'LICENSE'))
  writeFileSync(join(typescript, 'callbook.d.ts'), await typesOf(document))
  writeFileSync(join(typescript, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  buildPython(file, join(target, 'python'))
}

function buildPython(document: string, target: string): void {
  const commands = pythonCommands(join(root, 'scripts', 'python', 'client.txt'))
  if (!commands) throw new Error('The Python client needs Python and its packages')
  const settings = ['--config', join(sources, 'python', 'settings.yaml'), '--meta', 'setup']
  const { status, stdout, stderr } = spawnSync(
    join(commands, 'openapi-python-client'),
    ['generate', '--path', document, ...settings, '--output-path', target],
    { encoding: 'utf8', env: { ...process.env, PATH: `${commands}:${process.env.PATH}` } },
  )
  if (status !== 0) throw new Error(`The Python client could not be generated:\n${stdout}${stderr}`)
  // The generator's own README is about the generator.
  cpSync(join(sources, 'python', 'README.md'), join(target, 'README.md'))
  cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  const setup = join(target, 'setup.py')
  const code = readFileSync(setup, 'utf8')
  // Python writes a candidate as 1.0.0rc1: https://packaging.python.org/en/latest/specifications/version-specifiers
  const pythonVersion = version.replace(/-rc\./, 'rc')
  const versioned = code.replace(/version="[^"]*"/, `version="${pythonVersion}",\n    license="${license}"`)
  if (!versioned.includes(pythonVersion)) throw new Error('setup.py names no version')
  writeFileSync(setup, versioned)
}
