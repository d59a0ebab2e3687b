import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { openServices, type Services } from '../../src/services/services.ts'
import { envOf } from './test-mode.ts'

/**
 * The services as a command opens them on a folder, also while a service runs in it: with a writer of their own on the
 * same database.
 */
export async function openCommand(dataDir: string, env: Record<string, string> = {}): Promise<Services> {
  const config = loadConfig({ ...(await envOf(dataDir)), ...env, DATA_DIR: dataDir }, false)
  return await openServices({ config, log: pino({ level: 'silent' }), role: 'command' })
}

/** Opens them for `action` and closes them after it. */
export async function asCommand<Result>(
  dataDir: string,
  action: (services: Services) => Promise<Result>,
  env: Record<string, string> = {},
): Promise<Result> {
  const services = await openCommand(dataDir, env)
  try {
    return await action(services)
  } finally {
    await services.close()
  }
}
