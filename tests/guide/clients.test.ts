import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { keptFolder, keptFolders } from '../../scripts/kept-folder.ts'
import { pythonCommands } from '../../scripts/python.ts'
import { typesOf } from '../../scripts/typescript-types.ts'
import { readDocument } from '../support/document.ts'
import { repository } from '../support/process.ts'
import { startService } from '../support/service.ts'
import { skipped } from '../support/skipped.ts'

// Generates the clients of the guide's page from a real service, and checks and runs the page's programs as they stand.

const page = readFileSync(join(repository, 'src/guide/clients.md'), 'utf8')
const requirements = join(repository, 'scripts/python/client.txt')
const python = pythonCommands(requirements)
const [, goCommands = ''] = /\n## Go\n.*?```sh\n(.*?)```/s.exec(page) ?? []
const hasGo = canGenerateGo()

const service = await startService()
// Inside the repository, so that packages are found.
mkdirSync(join(repository, 'dist'), { recursive: true })
const folder = mkdtempSync(join(repository, 'dist', 'clients-'))
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})

/** Whether Go and its packages can be had. Says why not on stderr. */
function canGenerateGo(): boolean {
  const [generator = ''] = /github\.com\/\S+oapi-codegen@\S+/.exec(goCommands) ?? []
  const { status, stderr, error } = spawnSync('go', ['run', generator, '-version'], { encoding: 'utf8' })
  if (status !== 0) skipped(`the Go client: ${error ?? stderr.trim().split('\n').at(-1)}`)
  return status === 0
}

/** The page's program in this language, as a file in a folder of its own. */
function programIn(language: string, extension: string): string {
  const [, program] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page) ?? []
  if (!program) throw new Error(`The page has no program in ${language}`)
  const file = join(folder, language, `tour.${extension}`)
  mkdirSync(dirname(file))
  writeFileSync(file, program)
  return file
}

/** Runs a command beside the program until it succeeds. @returns what it prints */
async function run(file: string, command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: dirname(file),
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect(await child.exited, `${command.join(' ')}\n${stdout}${stderr}`).toBe(0)
  return stdout
}

/** Runs the program for a project that has one call more than the program writes. @returns what it prints */
async function tour(file: string, command: string[]): Promise<string> {
  const project = await service.mintProject()
  const other = { status: 'completed', details: { agent: { id: 'front-desk' } } }
  expect((await project.send('PUT', '/ingest/calls/other', other)).status).toBe(201)
  const env = { CALLBOOK: service.url, KEY: project.key, INGEST_KEY: project.ingestKey }
  const printed = await run(file, command, env)
  expect(printed).toContain(`The key live is for the project ${project.name}.`)
  expect(printed).toMatch(/assistant: Yes, to which day\?\nThe agent was front-desk\.\n/)
  expect(printed).toMatch(/\n2 calls: \w+-1042, other\n|\n2 calls: other, \w+-1042\n/)
  expect(printed).toContain('Refund policy › Refunds: ')
  expect(printed).toMatch(/\n\d+ call\.changed other\n/)
  expect(printed).toMatch(/\nCall not found\. Erased at 20\d\d-\d\d-\d\d.*\n$/)
  return printed
}

test('the TypeScript client has the types that the program uses, and the program runs', async () => {
  const file = programIn('ts', 'ts')
  writeFileSync(join(dirname(file), 'callbook.d.ts'), await typesOf(await readDocument(service.url)))
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  const options = [
    '--ignoreConfig',
    '--strict',
    '--noEmit',
    '--target',
    'esnext',
    '--moduleResolution',
    'bundler',
  ]
  const types = ['--module', 'esnext', '--types', 'bun-types', '--skipLibCheck']
  await run(file, [process.execPath, join(dirname(compiler), 'bin', 'tsc'), ...options, ...types, file])
  await tour(file, [process.execPath, file])
})

describe.skipIf(python === null)('the Python client', () => {
  const command = (name: string) => join(python ?? '', name)
  let file: string

  /** A folder with the generated package, which is the same for the same document. */
  function generatedClient(document: object): string {
    const text = JSON.stringify(document)
    return keptFolder('python-client', readFileSync(requirements, 'utf8') + text, (to) => {
      const openapi = join(to, 'openapi.json')
      writeFileSync(openapi, text)
      const options = ['generate', '--path', openapi, '--meta', 'none', '--output-path', join(to, 'callbook')]
      const env = { ...process.env, PATH: `${python}:${process.env.PATH}` }
      const { status, stderr } = spawnSync(command('openapi-python-client'), options, {
        encoding: 'utf8',
        env,
      })
      return status === 0 ? undefined : stderr
    })
  }

  beforeAll(async () => {
    file = programIn('python', 'py')
    cpSync(
      join(generatedClient(await readDocument(service.url)), 'callbook'),
      join(dirname(file), 'callbook'),
      { recursive: true },
    )
  })

  test('is correct by `mypy --strict`, and the program runs', async () => {
    await run(file, [command('mypy'), '--strict', '--cache-dir', join(keptFolders, 'mypy'), 'tour.py'])
    await tour(file, [command('python'), 'tour.py'])
  })

  test('has one class for each named schema, and no other', async () => {
    const document = await readDocument(service.url)
    const named = Object.entries(document.components?.schemas ?? {})
      .filter(([, schema]) => ('type' in schema && schema.type === 'object') || 'enum' in schema)
      .map(([name]) => name)
    const exported = readFileSync(join(dirname(file), 'callbook/models/__init__.py'), 'utf8')
    const classes = [...exported.matchAll(/^ {4}"(\w+)",$/gm)].map(([, name]) => name ?? '')
    expect(classes.sort()).toEqual(named.sort())
  })
})

test.skipIf(!hasGo)(
  "the Go client compiles with the page's commands, and finds calls by several values",
  async () => {
    const project = await service.mintProject()
    for (const [id, evaluation, agent] of [
      ['unjudged', null, 'back-office'],
      ['failed', 'fail', 'front-desk'],
      ['elsewhere', 'success', 'elsewhere'],
    ]) {
      const call = { status: 'completed', evaluation, details: { agent: { id: agent } } }
      expect((await project.send('PUT', `/ingest/calls/${id}`, call)).status).toBe(201)
    }
    const file = programIn('go', 'go')
    const env = { CALLBOOK: service.url, KEY: project.key, INGEST_KEY: project.ingestKey }
    const printed = await run(file, ['sh', '-e', '-c', goCommands], env)
    expect(printed).toBe(
      'go-1042: 91.2 s\nunjudged: 0 s\nuser: Can I move my booking?\n' +
        'Refund policy › Refunds: ## Refunds\n\nWe refund any order within 30 days.\n' +
        'Call not found: No call in this project has this id. It may have been deleted.\n',
    )
    await run(file, ['go', 'vet', './...'])
  },
  180_000,
)
