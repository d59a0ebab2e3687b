import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { byPerson } from '../identity.ts'
import type { Projects } from '../projects/projects.ts'
import { bodyOf } from '../validation.ts'
import { asOwner, createOwnProject } from './own-projects.ts'
import { DeleteProject, ProjectName } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects: create, rename and delete. */
export function projectRoutes(projects: Projects) {
  return new Elysia({ prefix: '/console/api/projects' })
    .use(consoleContext())
    .post('', ({ person, address, body }) => createOwnProject(projects, person, body.name, address), {
      parse: 'json',
      body: bodyOf(ProjectName),
      detail,
    })
    .patch(
      '/:project',
      async ({ person, member, address, body }) =>
        asOwner(await projects.rename(member.projectId, body.name, byPerson(person, address))),
      { parse: 'json', body: bodyOf(ProjectName), detail },
    )
    .delete(
      '/:project',
      ({ person, member, address, body }) =>
        projects.remove(member.projectId, { confirm: body.confirm, by: byPerson(person, address) }),
      { parse: 'json', body: bodyOf(DeleteProject), detail },
    )
}
