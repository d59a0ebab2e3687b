import { Button } from '@mantine/core'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { AuditRow } from '../../../../audit/audit-trail.ts'
import { api, unwrap } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { Instant } from '../../components/instant.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { settingsKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import { actionWords } from './action-words.ts'
import { AuditActor, AuditTarget } from './audit-entry.tsx'
import { AuditFilters } from './audit-filters.tsx'
import { OwnersOnly } from './owners-only.tsx'
import classes from './settings.module.css'

const rowsPerPage = '50'

/** Who did what, when and from where. */
export function AuditView() {
  return (
    <OwnersOnly title="Audit trail">
      <AuditTrail />
    </OwnersOnly>
  )
}

function AuditTrail() {
  const { id: project } = useProject()
  const filters = useSearch({ from: '/p/$project/settings/audit' })
  const navigate = useNavigate({ from: '/p/$project/settings/audit' })
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: settingsKeys.audit(project, filters),
    queryFn: ({ pageParam, signal }) => {
      const query = { ...filters, limit: rowsPerPage, ...(pageParam === null ? {} : { cursor: pageParam }) }
      return unwrap(api.projects({ project }).audit.get({ query, fetch: { signal } }))
    },
    initialPageParam: firstPage(),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  })
  const rows = data?.pages.flatMap((page) => page.data)
  return (
    <>
      <PageHeader
        title="Audit trail"
        description="Who did what in the last 400 days. Entries cannot be changed. Of a deleted call or item only a hash stays."
        action={
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={16} />}
            href={`/console/api/projects/${project}/audit/csv?${new URLSearchParams({ ...filters })}`}
            download
          >
            CSV
          </Button>
        }
      />
      <AuditFilters
        filters={filters}
        onChange={(search) => void navigate({ to: '.', search, replace: true })}
      />
      {rows && (
        <ListTable
          label="Audit trail"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          empty={
            Object.keys(filters).length > 0 ? (
              <Empty icon={<IconHistory size={24} />} title="No matching entries">
                Change or clear the filters.
              </Empty>
            ) : (
              <Empty icon={<IconHistory size={24} />} title="No entries yet">
                Sign-ins, keys, invitations and deletions appear here as they happen.
              </Empty>
            )
          }
        />
      )}
      {!rows && !error && (
        <ListTable label="Audit trail" columns={columns} rows={undefined} rowKey={String} expectedRows={16} />
      )}
      {error && (
        <Problem
          error={error}
          title="The audit trail could not be loaded"
          onRetry={() => void (rows ? fetchNextPage() : refetch())}
        />
      )}
      {hasNextPage && !error && (
        <div className={classes.more}>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Load older entries
          </Button>
        </div>
      )}
    </>
  )
}

function firstPage(): string | null {
  return null
}

const columns: Column<AuditRow>[] = [
  {
    key: 'at',
    header: 'When',
    width: '168px',
    from: 640,
    render: ({ at }) => <Instant at={at} as="second" />,
  },
  {
    key: 'actor',
    header: 'Who',
    from: 640,
    width: '26%',
    render: (row) => <AuditActor row={row} />,
  },
  {
    key: 'action',
    header: 'Action',
    render: (row) => (
      <>
        {/* A newer process on the same database may record other actions. */}
        {actionWords[row.action] ?? row.action}
        <span className="cb-narrow-line">
          <AuditTarget row={row} />
        </span>
        <span className="cb-narrow-line">
          <AuditActor row={row} />
        </span>
        <span className="cb-narrow-line">
          <Instant at={row.at} as="second" />
          {row.ipAddress && ` · ${row.ipAddress}`}
        </span>
      </>
    ),
  },
  {
    key: 'target',
    header: 'Target',
    width: '28%',
    from: 640,
    render: (row) => <AuditTarget row={row} />,
  },
  {
    key: 'address',
    header: 'From',
    width: '128px',
    from: 960,
    render: ({ ipAddress }) => (ipAddress === null ? null : <Mono truncate>{ipAddress}</Mono>),
  },
]
