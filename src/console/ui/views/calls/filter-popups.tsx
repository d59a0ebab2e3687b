import { Menu, Popover } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { asCount } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { useProject } from '../../session.ts'
import { facetCountsQuery } from './call-queries.ts'
import classes from './calls.module.css'
import { type ChosenFilters, type FilterChange, isFiltered } from './chosen-filters.ts'
import { type FilterField, useFilterFields, useResolvedFilters } from './filter-fields.tsx'
import type { Choices, Counted, Option } from './filter-labels.ts'

/** Offers values. */
export function ChoiceMenu({
  label,
  options,
  counted,
  values,
  isMany = false,
  onChoose,
  target,
  ...popup
}: PopupProps & Choices & { label: string }) {
  const [text, setText] = useState('')
  const countOf = useCounts(counted, popup.opened)
  const shown = options.filter((option) => includes(option.label, text))
  const items = shown.map((option) => {
    const Item = isMany ? Menu.CheckboxItem : Menu.RadioItem
    return (
      <Item
        key={option.value}
        value={option.value}
        closeMenuOnClick={!isMany}
        rightSection={<span className="cb-figure">{countOf(option)}</span>}
      >
        <span className="cb-truncate" dir="auto">
          {option.label}
        </span>
      </Item>
    )
  })
  return (
    <Menu position="bottom-start" width={264} withInitialFocusPlaceholder={false} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.menu}>
        {options.length > optionsAtOnce && (
          <Menu.Search
            aria-label={`Search ${label}`}
            placeholder="Search"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        {isMany ? (
          <Menu.CheckboxGroup value={values} onChange={onChoose}>
            {items}
          </Menu.CheckboxGroup>
        ) : (
          <Menu.RadioGroup value={values[0] ?? ''} onChange={(value) => onChoose([value])}>
            {items}
          </Menu.RadioGroup>
        )}
        {shown.length === 0 && (
          <Menu.Label>
            {options.length === 0 ? 'Nothing to choose from yet' : 'Nothing to choose from'}
          </Menu.Label>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

/** With more options, the list has a search field. */
const optionsAtOnce = 8

function includes(label: string, text: string): boolean {
  return label.toLowerCase().includes(text.trim().toLowerCase())
}

const countedMax = 10_000

/** What is shown beside each option: nothing until it is counted. Without other filters, at first the counts of all calls. */
function useCounts(counted: Counted | undefined, opened: boolean): (option: Option) => string {
  const project = useProject()
  const { name = 'status', filters = {} } = counted ?? {}
  const resolvedFilters = useResolvedFilters(filters)
  const isAlone = counted === undefined || !isFiltered({ ...filters, [name]: undefined })
  const { data } = useQuery({
    ...facetCountsQuery(project.id, name, resolvedFilters),
    enabled: opened && counted !== undefined,
  })
  return ({ value, count }) => {
    if (!data) return isAlone && count !== undefined ? asCount(count) : ''
    const calls = data.counts[value] ?? 0
    return calls > countedMax ? `${asCount(countedMax)}+` : asCount(calls)
  }
}

const valuesOffered = 20

interface AddFilterMenuProps extends PopupProps {
  filters: ChosenFilters
  omitted: readonly string[]
  onFilter: (change: FilterChange) => void
  /** Called with a filter whose value is to be chosen. */
  onAdd: (field: FilterField) => void
}

/** Offers the filters that are not set, and what is searched for among their names and values. */
export function AddFilterMenu({ filters, omitted, onFilter, onAdd, target, ...popup }: AddFilterMenuProps) {
  const [text, setText] = useState('')
  const fields = useFilterFields({ filters, omitted, onChange: onFilter, isOffering: true })
  const names = fields.filter(
    ({ label, chosen, control }) => chosen === undefined && control && includes(label, text),
  )
  const values = fields.flatMap(({ name, label, control }) =>
    !control || 'form' in control || text.trim() === ''
      ? []
      : control.options.flatMap(({ value, label: of }) =>
          includes(of, text) && !control.values.includes(value)
            ? [
                {
                  key: `${name} ${value}`,
                  label,
                  of,
                  choose: () => control.onChoose(control.isMany ? [...control.values, value] : [value]),
                },
              ]
            : [],
        ),
  )
  return (
    <Menu position="bottom-start" width={264} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.menu} ref={toDialog}>
        <Menu.Search
          aria-label="Search filters and their values"
          placeholder="Filter by …"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <div role="menu" aria-label="Filters">
          {names.map((field) => (
            <Menu.Item key={field.name} onClick={() => onAdd(field)}>
              {field.label}
            </Menu.Item>
          ))}
          {values.slice(0, valuesOffered).map(({ key, label, of, choose }) => (
            <Menu.Item key={key} onClick={choose}>
              <span className="cb-truncate">
                <span className="cb-dimmed">{label}:</span> <bdi>{of}</bdi>
              </span>
            </Menu.Item>
          ))}
          {names.length + values.length === 0 && (
            <Menu.Label>No filter and no value has this in its name</Menu.Label>
          )}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}

/** A menu has no search field in it: the dropdown is a dialog with a menu of its own. */
function toDialog(dropdown: HTMLElement | null): void {
  dropdown?.setAttribute('role', 'dialog')
  dropdown?.removeAttribute('aria-orientation')
}

interface FormPopoverProps extends PopupProps {
  label: string
  form: (close: () => void) => ReactNode
}

/** Shows a form. */
export function FormPopover({ label, form, target, opened, onChange }: FormPopoverProps) {
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={label}>{form(() => onChange(false))}</Popover.Dropdown>
    </Popover>
  )
}
