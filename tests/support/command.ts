import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { openServices, type Services } from '../../src/services/services.ts'
import { envOf } from './test-mode.ts'

/**
 * Opens the services like a command: with their own writer on the database of the folder, also while a service runs
 * in it. Makes the database if there is none, which no command does.
 */
export async function openCommand(dataDir: string, env: Record<string, string> = {}): Promise<Services> {
  const config = loadConfig({ ...(await envOf(dataDir)), ...env, DATA_DIR: dataDir }, false)
  return await openServices({
    config,
    log: pino({ level: 'silent' }),
    role: 'command',
    createsDatabase: true,
  })
}

/** Opens the services for `action` and closes them afterwards. */
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
