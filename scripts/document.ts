import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { loadConfig } from '../src/config.ts'
import { createServer } from '../src/server.ts'
import { openServices } from '../src/services/services.ts'

/** The OpenAPI document as the service serves it at /docs/json. */
export async function readDocument() {
  const dataDir = mkdtempSync(join(tmpdir(), 'callbook-document-'))
  try {
    const config = loadConfig({ DATA_DIR: dataDir }, false)
    const log = pino({ level: 'silent' })
    const services = await openServices({ config, log, role: 'command', createsDatabase: true })
    const app = createServer(services, () => null)
    const answer = await app.handle(new Request('http://localhost/docs/json'))
    const document = await answer.json()
    await services.close()
    return document
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
