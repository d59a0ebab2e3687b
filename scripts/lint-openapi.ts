import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readDocument } from './document.ts'

// Lints the OpenAPI document that the service serves with Redocly's recommended rules. Exits 1 on an error.

const folder = mkdtempSync(join(tmpdir(), 'callbook-openapi-'))
try {
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(await readDocument(), null, 2))
  process.exitCode = lint(file)
} finally {
  rmSync(folder, { recursive: true, force: true })
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
