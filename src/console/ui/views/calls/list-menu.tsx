import { Menu } from '@mantine/core'
import { IconBell, IconChartBar, IconDownload, IconTestPipe } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { PopupProps } from '../../components/popup.tsx'
import { to } from '../../components/to.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject, useRefusal } from '../../session.ts'
import { alertSearchOf } from '../alerts/alert-search.ts'
import { chartSearch } from '../charts/chart-search.ts'
import { columns as allColumns, type ColumnChoice } from './call-line.tsx'
import classes from './calls.module.css'
import { type ChosenFilters, type FilterChange, faultsOf, orders } from './chosen-filters.ts'
import { useResolvedFilters } from './filter-fields.tsx'

/** The forms in which calls are downloaded. */
export const exportFiles = [
  { name: 'calls.csv', label: 'CSV', text: 'Opens in a spreadsheet, without transcripts' },
  { name: 'calls.jsonl', label: 'JSONL', text: 'Complete calls, one per line' },
]

/** The order that no order in the address means. */
const newest = 'newest'

interface ListMenuProps extends PopupProps {
  filters: ChosenFilters
  onFilter: (change: FilterChange) => void
  columns: ColumnChoice
}

/** What can be made of the calls of the list, how it is sorted and which columns it has. */
export default function ListMenu({ filters, onFilter, columns, target, ...popup }: ListMenuProps) {
  const { id: project } = useProject()
  const resolvedFilters = useResolvedFilters(filters)
  const mayAlert = useRefusal('change') === null
  const isReadable = faultsOf(filters).length === 0
  return (
    <Menu position="bottom-end" width={264} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.menu}>
        <Menu.Item
          leftSection={<IconChartBar size={14} />}
          renderRoot={(props) => <Link {...to.chart} search={chartSearch(filters)} {...props} />}
        >
          Chart these calls
        </Menu.Item>
        <Menu.Item
          leftSection={<IconTestPipe size={14} />}
          renderRoot={(props) => <Link {...to.tests} {...props} />}
        >
          Tests made of calls
        </Menu.Item>
        {mayAlert && (
          <Menu.Item
            leftSection={<IconBell size={14} />}
            renderRoot={(props) => (
              <Link
                from="/p/$project"
                to="/p/$project/settings/alerts/new"
                search={alertSearchOf({ of: 'calls', show: 'count' }, filters)}
                {...props}
              />
            )}
          >
            Alert me when …
          </Menu.Item>
        )}
        {isReadable &&
          exportFiles.map(({ name, label, text }) => (
            <Menu.Item
              key={name}
              component="a"
              leftSection={<IconDownload size={14} />}
              href={`/console/api/projects/${project}/exports/${name}${stringifySearch(resolvedFilters)}`}
              download={name}
              title={text}
            >
              Export as {label}
            </Menu.Item>
          ))}
        <Menu.Divider />
        <Menu.Label>Order</Menu.Label>
        <Menu.RadioGroup
          value={filters.order ?? newest}
          onChange={(order) => onFilter({ order: order === newest ? undefined : order })}
        >
          <Menu.RadioItem value={newest}>Newest first</Menu.RadioItem>
          {Object.entries(orders).map(([order, label]) => (
            <Menu.RadioItem key={order} value={order}>
              {label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Label>Columns</Menu.Label>
        <Menu.CheckboxGroup value={columns.chosen} onChange={columns.choose}>
          {allColumns.map(({ name, label }) => (
            <Menu.CheckboxItem key={name} value={name} closeMenuOnClick={false}>
              {label}
            </Menu.CheckboxItem>
          ))}
        </Menu.CheckboxGroup>
      </Menu.Dropdown>
    </Menu>
  )
}
