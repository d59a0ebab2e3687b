import type { Projects } from '../projects/projects.ts'
import { SettingsChange } from '../projects/schemas.ts'
import type { Settings } from '../projects/settings.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { asOwner, createOwnProject } from './own-projects.ts'
import { DeleteProject, NewName } from './schemas.ts'

/** /console/api/projects: create, rename and delete; /settings of a project, for owners. */
export function projectRoutes({ projects, settings }: { projects: Projects; settings: Settings }) {
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
    .get('/:project/settings', ({ member }) => settings.get(member.projectId))
    .put(
      '/:project/settings',
      ({ member, by, body }) => settings.change(member.projectId, body, by),
      jsonBody(SettingsChange),
    )
}
