import { Button, Menu } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconDownload } from '@tabler/icons-react'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { type ChosenFilters, type FilterChange, faultsOf, type Order } from './chosen-filters.ts'
import { columns as allColumns } from './columns.ts'
import { ViewsMenu } from './views-menu.tsx'

const orders: { value: string; label: string; order: Order | undefined }[] = [
  { value: 'newest', label: 'Newest first', order: undefined },
  { value: 'oldest', label: 'Oldest first', order: 'createdAt' },
  { value: 'longest', label: 'Longest first', order: '-duration' },
  { value: 'shortest', label: 'Shortest first', order: 'duration' },
]

const files = [
  { name: 'calls.csv', label: 'CSV', text: 'Opens in a spreadsheet, without transcripts' },
  { name: 'calls.jsonl', label: 'JSONL', text: 'Complete calls, one per line' },
]

interface ListMenusProps {
  filters: ChosenFilters
  onFilter: (change: FilterChange) => void
  columns: string[]
  onColumns: (names: string[]) => void
}

/** How the list is sorted, which columns it has, and what leaves it as a file. */
export function ListMenus({ filters, onFilter, columns, onColumns }: ListMenusProps) {
  const project = useProject()
  const order = orders.find(({ order }) => order === filters.order)?.value ?? 'newest'
  return (
    <div className="cb-row">
      <ViewsMenu filters={filters} />
      <Menu position="bottom-end" width={264}>
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
            disabled={faultsOf(filters).length > 0}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {files.map(({ name, label, text }) => (
            <Menu.Item
              key={name}
              component="a"
              href={`/console/api/projects/${project.id}/exports/${name}${stringifySearch(filters)}`}
              download={name}
            >
              {label}
              <span className="cb-dimmed cb-calls-menu-text">{text}</span>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconAdjustmentsHorizontal size={14} aria-hidden />}>
            Display
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Order</Menu.Label>
          <Menu.RadioGroup
            value={order}
            onChange={(value) => onFilter({ order: orders.find((one) => one.value === value)?.order })}
          >
            {orders.map(({ value, label }) => (
              <Menu.RadioItem key={value} value={value}>
                {label}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <Menu.Label>Columns</Menu.Label>
          <Menu.CheckboxGroup value={columns} onChange={onColumns}>
            {allColumns.map(
              ({ name, label, choice }) =>
                choice !== 'always' && (
                  <Menu.CheckboxItem key={name} value={name} closeMenuOnClick={false}>
                    {label}
                  </Menu.CheckboxItem>
                ),
            )}
          </Menu.CheckboxGroup>
        </Menu.Dropdown>
      </Menu>
    </div>
  )
}
