import { Elysia } from 'elysia'
import { consoleContext } from '../http/console-context.ts'
import { bodyOf } from '../validation.ts'
import type { ProjectOfPerson } from './answers.ts'
import { notBuilt } from './not-built.ts'
import { DeleteProject, ProjectName } from './schemas.ts'

const detail = { hide: true }

/** /console/api/projects: made, renamed, deleted for good. */
export function projectRoutes() {
  return new Elysia({ prefix: '/console/api/projects' })
    .use(consoleContext())
    .post('', () => notBuilt<ProjectOfPerson>(), { parse: 'json', body: bodyOf(ProjectName), detail })
    .patch('/:project', () => notBuilt<ProjectOfPerson>(), {
      parse: 'json',
      body: bodyOf(ProjectName),
      detail,
    })
    .delete('/:project', () => notBuilt<{ id: string; deleted: true }>(), {
      parse: 'json',
      body: bodyOf(DeleteProject),
      detail,
    })
}
