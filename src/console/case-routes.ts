import { Type } from '@sinclair/typebox'
import type { Cases } from '../cases/cases.ts'
import { type Case, CaseRequest } from '../cases/schemas.ts'
import { bodyOf } from '../validation.ts'
import { consoleRoutes, jsonBody, limitOf } from './console-routes.ts'

/** A case as lists show it, without its conversation. */
export type CaseRow = Omit<Case, 'messages' | 'said' | 'mocks'>

const CasesRequest = Type.Object({
  call: Type.Optional(Type.String()),
  limit: Type.Optional(Type.String()),
  cursor: Type.Optional(Type.String()),
})

/** /console/api/projects/:project/cases. */
export function caseRoutes({ cases }: { cases: Cases }) {
  return consoleRoutes('/console/api/projects/:project/cases')
    .get(
      '',
      async ({ member, query: { limit, ...query } }) => {
        const page = await cases.page(member.projectId, { ...query, limit: limitOf(limit) })
        const data: CaseRow[] = []
        for await (const { messages, said, mocks, ...row } of page.cases) data.push(row)
        return { data, nextCursor: page.next }
      },
      { query: bodyOf(CasesRequest) },
    )
    .post(
      '',
      ({ member, by, person, body }) => cases.create(member.projectId, body, { by, name: person.name }),
      jsonBody(CaseRequest),
    )
    .get('/formats', () => cases.formats())
    .delete('/:id', ({ member, by, params }) => cases.delete(member.projectId, params.id, by))
}
