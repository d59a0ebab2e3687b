import type { Services } from '../services/services.ts'

/** What a start makes on a new database. It is shown once. */
export interface FirstStart {
  /** Null when the database has had a project. */
  firstKey: { projectName: string; key: string } | null
  /** Opens the console's set-up page, once; null when there is a link already. */
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
