import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type { ConsoleProjects } from './projects.ts'
import { DeleteProject, ProjectName } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects: made, renamed, deleted for good. */
export function projectRoutes(projects: ConsoleProjects) {
  return new Elysia({ prefix: '/console/api/projects' })
    .use(consoleContext())
    .post('', ({ person, address, body }) => projects.create(person, body.name, address), {
      parse: 'json',
      body: bodyOf(ProjectName),
      detail,
    })
    .patch(
      '/:project',
      ({ person, member, address, body }) => projects.rename(person, member, body.name, address),
      { parse: 'json', body: bodyOf(ProjectName), detail },
    )
    .delete(
      '/:project',
      ({ person, member, address, body }) => projects.remove(person, member, body.confirm, address),
      { parse: 'json', body: bodyOf(DeleteProject), detail },
    )
}
