import type { Services } from '../services/services.ts'

/** What a start makes on a database that does not have it yet, shown once. */
export interface FirstStart {
  /** Null when there was a project. */
  firstKey: { projectName: string; key: string } | null
  /** Opens the console's set-up page, once; null when there was a link before. */
  setupToken: string | null
}

/** Makes the first project, its key and the set-up link. Of several processes that start at once, one makes each. */
export async function bootstrap({ projects, keys, console }: Services): Promise<FirstStart> {
  const project = await projects.createFirst('default')
  const setupToken = await console.people.createSetUpLink()
  if (!project) return { firstKey: null, setupToken }
  const { key } = await keys.create(project.projectId, {
    name: 'First key',
    kind: 'live',
    allowedIps: [],
    expiresAt: null,
  })
  return { firstKey: { projectName: project.name, key }, setupToken }
}
