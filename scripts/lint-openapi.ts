import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pino from 'pino'
import { loadConfig } from '../src/config.ts'
import { createServer } from '../src/server.ts'
import { openServices } from '../src/services/services.ts'

// Lints the OpenAPI document that the service serves with Redocly's recommended rules. Exits 1 on an error.

const folder = mkdtempSync(join(tmpdir(), 'callbook-openapi-'))
try {
  const file = join(folder, 'openapi.json')
  writeFileSync(file, await readDocument(folder))
  process.exitCode = lint(file)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function readDocument(dataDir: string): Promise<string> {
  const config = loadConfig({ DATA_DIR: dataDir }, false)
  const services = await openServices({
    config,
    log: pino({ level: 'silent' }),
    role: 'command',
    createsDatabase: true,
  })
  const app = createServer(services, () => null)
  const answer = await app.handle(new Request('http://localhost/docs/json'))
  const document = JSON.stringify(await answer.json(), null, 2)
  await services.close()
  return document
}

function lint(file: string): number {
  const manifest = createRequire(import.meta.url).resolve('@redocly/cli/package.json')
  const command = join(dirname(manifest), 'bin', 'cli.js')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [command, 'lint', '--extends=recommended', '--format=stylish', file],
    {
      encoding: 'utf8',
      // Without user configuration, telemetry and update check, so that it needs no network.
      cwd: dirname(file),
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  )
  process.stdout.write(stdout)
  if (status !== 0) process.stderr.write(stderr)
  return status ?? 1
}
