import { Button } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconBookmark, IconChartBar, IconDownload } from '@tabler/icons-react'
import { lazy } from 'react'
import { PageIcon } from '../../components/links.tsx'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { useProject } from '../../session.ts'
import { AlertLink } from '../alerts/alert-link.tsx'
import { chartSearch } from '../charts/chart-search.ts'
import { type ChosenFilters, type FilterChange, faultsOf } from './chosen-filters.ts'

const loadViews = () => import('./views-list.tsx')
const loadMenus = () => import('./list-popups.tsx')
const ViewsPopover = lazy(loadViews)
const ExportMenu = lazy(async () => ({ default: (await loadMenus()).ExportMenu }))
const DisplayMenu = lazy(async () => ({ default: (await loadMenus()).DisplayMenu }))

interface ListMenusProps {
  filters: ChosenFilters
  onFilter: (change: FilterChange) => void
  columns: string[]
  onColumns: (names: string[]) => void
}

/** What an alert of the list watches. */
const calls = { of: 'calls', show: 'count' } as const

/** Saved views, what can be made of the calls that match, and how it is sorted and which columns it has. */
export function ListMenus({ filters, onFilter, columns, onColumns }: ListMenusProps) {
  const { id: project } = useProject()
  return (
    <div className="cb-row">
      <ButtonWithPopup
        kind="dialog"
        load={loadViews}
        button={
          <Button variant="default" leftSection={<IconBookmark size={14} aria-hidden />}>
            Views
          </Button>
        }
      >
        {(popup) => <ViewsPopover {...popup} filters={filters} />}
      </ButtonWithPopup>
      <PageIcon
        to="/p/$project/overview/chart"
        params={{ project }}
        search={chartSearch(filters)}
        aria-label="Chart these calls"
        data-hint="Chart these calls"
        variant="default"
        size={32}
      >
        <IconChartBar size={14} aria-hidden />
      </PageIcon>
      <AlertLink figure={calls} filters={filters} variant="default" size={32} />
      <ButtonWithPopup
        kind="menu"
        load={loadMenus}
        button={
          <Button
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            disabled={faultsOf(filters).length > 0}
          >
            Export
          </Button>
        }
      >
        {(popup) => <ExportMenu {...popup} filters={filters} />}
      </ButtonWithPopup>
      <ButtonWithPopup
        kind="menu"
        load={loadMenus}
        button={
          <Button variant="default" leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}>
            Display
          </Button>
        }
      >
        {(popup) => (
          <DisplayMenu
            {...popup}
            order={filters.order}
            onFilter={onFilter}
            columns={columns}
            onColumns={onColumns}
          />
        )}
      </ButtonWithPopup>
    </div>
  )
}
