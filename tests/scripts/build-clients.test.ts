import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { buildClients } from '../../scripts/build-clients.ts'
import { pythonCommands } from '../../scripts/python.ts'
import { repository } from '../support/process.ts'
import { startService, type TestProject, type TestService } from '../support/service.ts'

// The packages of the clients, in programs that use them. What each client can do is in tests/guide/clients.test.ts.

const python = pythonCommands(join(repository, 'scripts/python/client.txt'))

describe.skipIf(python === null)('the packages of the clients', () => {
  let service: TestService
  let project: TestProject
  let folder: string

  beforeAll(async () => {
    // Inside the repository, so that packages are found.
    mkdirSync(join(repository, 'dist'), { recursive: true })
    folder = mkdtempSync(join(repository, 'dist', 'packages-'))
    service = await startService()
    project = await service.mintProject()
    await project.send('PUT', '/ingest/calls/one', { status: 'completed', summary: 'Moved a booking.' })
    await buildClients({ target: folder })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
  })

  async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
    const child = Bun.spawn(command, {
      cwd: folder,
      env: { ...process.env, CALLBOOK: service.url, KEY: project.key, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    expect(await child.exited, out + err).toBe(0)
    return out.trim()
  }

  test('have the version of the service', () => {
    const { version } = JSON.parse(readFileSync(join(folder, 'typescript', 'package.json'), 'utf8'))
    expect(version).toBe(packageJson.version)
    const setup = readFileSync(join(folder, 'python', 'setup.py'), 'utf8')
    expect(setup).toContain(`version="${packageJson.version.replace('-rc.', 'rc')}"`)
  })

  test('have our README and licence', () => {
    for (const name of ['typescript', 'python']) {
      expect(readFileSync(join(folder, name, 'LICENSE'), 'utf8')).toBe(
        readFileSync(join(repository, 'LICENSE'), 'utf8'),
      )
      expect(readFileSync(join(folder, name, 'README.md'), 'utf8')).toStartWith(
        '# callbook-client\n\nThe typed client of Callbook',
      )
    }
    expect(readFileSync(join(folder, 'python', 'setup.py'), 'utf8')).toContain(
      `license="${packageJson.license}"`,
    )
  })

  test('TypeScript: a program is checked, and reads a call', async () => {
    const program = (field: string) => `
      import { type Call, createCallbook } from './typescript/index.js'
      const callbook = createCallbook({ baseUrl: process.env.CALLBOOK ?? '', key: process.env.KEY ?? '' })
      const { data } = await callbook.GET('/v1/calls/{id}', { params: { path: { id: 'one' } } })
      const call: Call | undefined = data
      console.log(call?.${field})`
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
    const check = [
      process.execPath,
      tsc,
      '--noEmit',
      '--ignoreConfig',
      '--strict',
      '--skipLibCheck',
      '--target',
      'esnext',
    ]
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', 'bun-types']
    writeFileSync(join(folder, 'good.ts'), program('summary'))
    await run([...check, ...modules, 'good.ts'])
    expect(await run([process.execPath, 'good.ts'])).toBe('Moved a booking.')
    writeFileSync(join(folder, 'bad.ts'), program('sumary'))
    expect(Bun.spawnSync([...check, ...modules, 'bad.ts'], { cwd: folder }).exitCode).not.toBe(0)
  })

  test('Python: a program reads a call', async () => {
    const program = `
import os
from callbook import AuthenticatedClient
from callbook.api.calls import get_call
client = AuthenticatedClient(base_url=os.environ["CALLBOOK"], token=os.environ["KEY"])
print(get_call.sync("one", client=client).summary)`
    const env = { PYTHONPATH: join(folder, 'python'), PYTHONDONTWRITEBYTECODE: '1' }
    expect(await run([join(python ?? '', 'python'), '-c', program], env)).toBe('Moved a booking.')
  })
})
