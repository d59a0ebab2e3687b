import type { Projects } from '../projects/projects.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { asOwner, createOwnProject } from './own-projects.ts'
import { DeleteProject, NewName } from './schemas.ts'

/** /console/api/projects: create, rename and delete. */
export function projectRoutes(projects: Projects) {
  return consoleRoutes('/console/api/projects')
    .post(
      '',
      ({ person, by, body }) => createOwnProject(projects, person.personId, body.name, by),
      jsonBody(NewName),
    )
    .patch(
      '/:project',
      async ({ member, by, body }) => asOwner(await projects.rename(member.projectId, body.name, by)),
      jsonBody(NewName),
    )
    .delete(
      '/:project',
      ({ member, by, body }) => projects.delete(member.projectId, { confirm: body.confirm, by }),
      jsonBody(DeleteProject),
    )
}
