import { asCommand } from './command.ts'

export interface ProjectBeside {
  projectId: number
  key: string
  ingestKey: string
}

/** A project with one key of each kind, created by another process on the folder of running services, like a command. */
export async function mintBeside(dataDir: string, env: Record<string, string> = {}): Promise<ProjectBeside> {
  return await asCommand(
    dataDir,
    async ({ projects, keys }) => {
      const { projectId } = await projects.create(`beside ${crypto.randomUUID()}`)
      const make = (kind: 'live' | 'ingest') =>
        keys.create(projectId, { name: kind, kind, allowedIps: [], expiresAt: null })
      const [live, ingest] = [await make('live'), await make('ingest')]
      return { projectId, key: live.key, ingestKey: ingest.key }
    },
    env,
  )
}
