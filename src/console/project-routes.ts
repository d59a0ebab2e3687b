import type { Projects } from '../projects/projects.ts'
import { bodyOf } from '../validation.ts'
import { consoleRoutes, jsonBody } from './console-routes.ts'
import { asOwner, createOwnProject } from './own-projects.ts'
import { changeSettings, countDue, type PrivacyParts } from './privacy.ts'
import { ChangedSettings, DeleteProject, DueRequest, NewName } from './schemas.ts'

/** /console/api/projects: create, rename and delete; /settings of a project, for owners. */
export function projectRoutes({ projects, ...parts }: PrivacyParts & { projects: Projects }) {
  return consoleRoutes('/console/api/projects')
    .post(
      '',
      ({ person, by, body }) => createOwnProject(projects, person.personId, body.name, by),
      jsonBody(NewName),
    )
    .patch(
      '/:project',
      async ({ member, by, body }) =>
        asOwner(
          await projects.rename(member.projectId, body.name, by),
          await parts.settingsOf(member.projectId),
        ),
      jsonBody(NewName),
    )
    .delete(
      '/:project',
      ({ member, by, body }) => projects.delete(member.projectId, { confirm: body.confirm, by }),
      jsonBody(DeleteProject),
    )
    .get('/:project/settings', ({ member }) => parts.settingsOf(member.projectId))
    .get('/:project/settings/due', ({ member, query }) => countDue(parts, member.projectId, query.days), {
      query: bodyOf(DueRequest),
    })
    .put(
      '/:project/settings',
      ({ member, by, body }) => changeSettings(parts, member.projectId, body, by),
      jsonBody(ChangedSettings),
    )
}
