import { consoleRoutes, jsonBody } from './console-routes.ts'
import { NewView } from './schemas.ts'
import type { Views } from './views.ts'

/** /console/api/projects/:project/views: saved filters of the list of calls. */
export function viewRoutes(views: Views) {
  return consoleRoutes('/console/api/projects/:project/views')
    .get('', async ({ member, person }) => ({ data: await views.list(member, person.personId) }))
    .post('', ({ member, person, body }) => views.create(member, person.personId, body), jsonBody(NewView))
    .delete('/:id', ({ member, person, params }) => views.delete(member, person.personId, params.id))
}
