import pino from 'pino'
import { loadConfig } from '../../src/config.ts'
import { openServices } from '../../src/services.ts'

export interface ProjectBeside {
  projectId: number
  key: string
  ingestKey: string
}

/** A project with one key of each kind, made beside the services that run in the folder, as a command makes it. */
export async function mintBeside(dataDir: string, env: Record<string, string> = {}): Promise<ProjectBeside> {
  const services = await openServices({
    config: loadConfig({ ...env, DATA_DIR: dataDir }, false),
    log: pino({ level: 'silent' }),
    role: 'command',
  })
  const { projectId } = await services.projects.create(`beside ${crypto.randomUUID()}`)
  const make = (kind: 'live' | 'ingest') =>
    services.keys.create(projectId, { name: kind, kind, allowedIps: [], expiresAt: null })
  const [live, ingest] = [await make('live'), await make('ingest')]
  await services.close()
  return { projectId, key: live.key, ingestKey: ingest.key }
}
