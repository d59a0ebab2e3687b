import { randomBytes } from 'node:crypto'
import { hashKey } from './auth/token.ts'
import { setMeta } from './db/meta.ts'
import type { Services } from './services.ts'

/** What the first start makes, shown once. */
export interface FirstStart {
  projectName: string
  key: string
  /** Opens the console's set-up page, once. */
  setupToken: string
}

const setupTokenBytes = 24

/** Makes the first project and its key on an empty database; null when there is a project, or another process was first. */
export async function bootstrap({ projects, keys, database }: Services): Promise<FirstStart | null> {
  const project = await projects.createFirst('default')
  if (!project) return null
  const { key } = await keys.create(project.projectId, {
    name: 'First key',
    kind: 'live',
    allowedIps: [],
    expiresAt: null,
  })
  const setupToken = randomBytes(setupTokenBytes).toString('base64url')
  await setMeta(database.write, 'console_setup_hash', hashKey(setupToken))
  return { projectName: project.name, key, setupToken }
}
