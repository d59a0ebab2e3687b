import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { callKeys } from '../../query-keys.ts'

/** The saved views, or the kept charts, that the person sees. */
export function viewsQuery(project: string, page: 'calls' | 'chart') {
  return queryOptions({
    queryKey: callKeys.views(project),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).views.get({ fetch: { signal } })),
    select: ({ data }) => data.filter((view) => view.page === page),
  })
}
