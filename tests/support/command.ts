import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { openServices, type Services } from '../../src/services.ts'
import { envOf } from '../support/test-mode.ts'

/** The parts as a command opens them on a folder that a service owns: a writer of its own on the same database. */
export async function openCommand(dataDir: string): Promise<Services> {
  const config = loadConfig({ DATA_DIR: dataDir, ...(await envOf(dataDir)) }, false)
  return openServices({ config, log: pino({ level: 'silent' }), role: 'command' })
}
