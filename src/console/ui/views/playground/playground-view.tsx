import { Stack } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { AskForm } from './ask-form.tsx'
import { ItemsSelect } from './items-select.tsx'
import type { AskRequest } from './request.ts'

const route = getRouteApi('/p/$project/playground')

/** Asks as an agent would, and shows what comes back, why, and how fast. The question is in the address. */
export function PlaygroundView() {
  const { project } = route.useParams()
  const search = route.useSearch()
  const navigate = useNavigate()
  const show = (next: AskRequest) =>
    void navigate({
      to: '/p/$project/playground',
      params: { project },
      search: {
        q: next.query || undefined,
        mode: next.mode === 'hybrid' ? undefined : next.mode,
        limit: next.limit,
        timeoutMs: next.timeoutMs,
        items: next.itemIds?.length ? next.itemIds : undefined,
      },
    })
  const asked: AskRequest = {
    query: search.q ?? '',
    mode: search.mode,
    limit: search.limit,
    timeoutMs: search.timeoutMs,
  }

  return (
    <Stack gap="md">
      <PageHeader
        title="Playground"
        description="Ask a question as an agent would, and see what it receives."
      />
      <AskForm
        project={project}
        initial={asked}
        {...(search.items ? { itemIds: search.items } : {})}
        options={
          <ItemsSelect
            project={project}
            itemIds={search.items ?? []}
            onChange={(itemIds) => show({ ...asked, itemIds })}
          />
        }
        onAsk={(next) => show({ ...next, itemIds: search.items })}
      />
    </Stack>
  )
}
