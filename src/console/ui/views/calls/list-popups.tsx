import { Menu } from '@mantine/core'
import type { PopupProps } from '../../components/popup.tsx'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import classes from './calls.module.css'
import type { ChosenFilters, FilterChange, Order } from './chosen-filters.ts'
import { columns as allColumns } from './columns.ts'
import { useAsked } from './use-asked.ts'

/** The forms in which calls are downloaded. */
export const exportFiles = [
  { name: 'calls.csv', label: 'CSV', text: 'Opens in a spreadsheet, without transcripts' },
  { name: 'calls.jsonl', label: 'JSONL', text: 'Complete calls, one per line' },
]

/** The files that the calls of the list can be downloaded as. */
export function ExportMenu({ filters, target, ...popup }: PopupProps & { filters: ChosenFilters }) {
  const project = useProject()
  const asked = useAsked(filters)
  return (
    <Menu position="bottom-end" width={264} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        {exportFiles.map(({ name, label, text }) => (
          <Menu.Item
            key={name}
            component="a"
            href={`/console/api/projects/${project.id}/exports/${name}${stringifySearch(asked)}`}
            download={name}
          >
            {label}
            <span className={`cb-dimmed ${classes.menuText}`}>{text}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

const orders: { value: string; label: string; order: Order | undefined }[] = [
  { value: 'newest', label: 'Newest first', order: undefined },
  { value: 'oldest', label: 'Oldest first', order: 'createdAt' },
  { value: 'longest', label: 'Longest first', order: '-duration' },
  { value: 'shortest', label: 'Shortest first', order: 'duration' },
  { value: 'dearest', label: 'Most expensive first', order: '-cost' },
  { value: 'slowest', label: 'Slowest first', order: '-latency' },
  { value: 'worst', label: 'Fewest criteria passed first', order: 'criteria' },
]

interface DisplayMenuProps extends PopupProps {
  order: ChosenFilters['order']
  onFilter: (change: FilterChange) => void
  columns: string[]
  onColumns: (names: string[]) => void
}

/** How the list is sorted, and which columns it has. */
export function DisplayMenu({ order, onFilter, columns, onColumns, target, ...popup }: DisplayMenuProps) {
  return (
    <Menu position="bottom-end" width={200} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Order</Menu.Label>
        <Menu.RadioGroup
          value={orders.find((one) => one.order === order)?.value ?? 'newest'}
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
  )
}
