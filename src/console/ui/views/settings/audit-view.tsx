import { Button } from '@mantine/core'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { readPages } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { Instant } from '../../components/instant.tsx'
import { Page } from '../../components/page.tsx'
import { PagedTable } from '../../components/table.tsx'
import { useProject } from '../../session.ts'
import { actionWords } from './action-words.ts'
import { AuditActor, AuditTarget } from './audit-entry.tsx'
import { AuditFilters } from './audit-filters.tsx'

const rowsPerPage = '50'

/** Who did what, when and from where. */
export function AuditView() {
  const { id: project, of } = useProject()
  const filters = useSearch({ from: '/p/$project/settings/audit' })
  const navigate = useNavigate({ from: '/p/$project/settings/audit' })
  const entries = useInfiniteQuery(readPages(of.audit, { ...filters, limit: rowsPerPage }))
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Page
      title="Audit trail"
      description="Who did what in the last 400 days. Entries cannot be changed. Only a hash remains of a deleted call or item."
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
    >
      <AuditFilters
        filters={filters}
        onChange={(search) => void navigate({ to: '.', search, replace: true })}
      />
      <PagedTable
        label="Audit trail"
        of={entries}
        what="The audit trail"
        more="Load older entries"
        rows={entries.data?.pages.flatMap((page) => page.data)}
        rowKey={({ id }) => id}
        expectedRows={16}
        columns={({ cell, mono, when }) => [
          when('When', ({ at }) => at, { as: 'second', width: '168px', from: 640 }),
          cell('Who', (row) => <AuditActor row={row} />, { width: '26%', from: 640 }),
          cell('Action', (row) => (
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
          )),
          cell('Target', (row) => <AuditTarget row={row} />, { width: '28%', from: 640 }),
          mono('From', ({ ipAddress }) => ipAddress, { width: '128px', from: 960 }),
        ]}
        empty={
          <Empty
            icon={<IconHistory size={24} />}
            title={isFiltered ? 'No matching entries' : 'No entries yet'}
          >
            {isFiltered
              ? 'Change or clear the filters.'
              : 'Sign-ins, keys, invitations and deletions appear here as they happen.'}
          </Empty>
        }
      />
    </Page>
  )
}
