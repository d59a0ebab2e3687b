import { Menu, Popover } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { callFilters, type FilterName } from '../../../../calls/filters.ts'
import { asCount } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { useProject } from '../../session.ts'
import { facetCountsQuery } from './call-queries.ts'
import classes from './calls.module.css'
import { type ChosenFilters, isFiltered, isMany } from './chosen-filters.ts'
import { useAsked } from './use-asked.ts'

/** A value that a filter offers. */
export interface Option {
  value: string
  label: string
  /** How many calls have it. */
  count?: number
}

/** What is counted for each option: the calls that the other filters leave. */
export interface Counted {
  name: FilterName
  filters: ChosenFilters
}

interface ChoicesProps extends PopupProps {
  label: string
  options: Option[]
  counted?: Counted | undefined
  value: string | undefined
  onChoose: (value: string) => void
}

/** Offers values, of which one can be chosen. */
export function Choices({ label, options, counted, value, onChoose, target, ...popup }: ChoicesProps) {
  const countOf = useCounts(counted, popup.opened)
  const { shown, search, clear } = useOptionSearch(label, options)
  return (
    <Menu position="bottom-start" width={264} withInitialFocusPlaceholder={false} onClose={clear} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.choices}>
        {search}
        <Menu.RadioGroup value={value ?? ''} onChange={(next) => onChoose(next)}>
          {shown.map((option) => (
            <Menu.RadioItem
              key={option.value}
              value={option.value}
              closeMenuOnClick
              rightSection={<span className="cb-figure">{countOf(option)}</span>}
            >
              <span className="cb-truncate">{option.label}</span>
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        {shown.length === 0 && (
          <Menu.Label>
            {options.length === 0 ? 'Nothing to choose from yet' : 'Nothing to choose from'}
          </Menu.Label>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface ManyChoicesProps extends PopupProps {
  label: string
  counted?: Counted | undefined
  options: Option[]
  values: string[]
  onChoose: (values: string[]) => void
}

/** Offers values, of which any can be chosen. */
export function ManyChoices({
  label,
  options,
  counted,
  values,
  onChoose,
  target,
  ...popup
}: ManyChoicesProps) {
  const countOf = useCounts(counted, popup.opened)
  const { shown, search, clear } = useOptionSearch(label, options)
  return (
    <Menu position="bottom-start" width={264} withInitialFocusPlaceholder={false} onClose={clear} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.choices}>
        {search}
        <Menu.CheckboxGroup value={values} onChange={onChoose}>
          {shown.map((option) => (
            <Menu.CheckboxItem
              key={option.value}
              value={option.value}
              closeMenuOnClick={false}
              rightSection={<span className="cb-figure">{countOf(option)}</span>}
            >
              <span className="cb-truncate">{option.label}</span>
            </Menu.CheckboxItem>
          ))}
        </Menu.CheckboxGroup>
        {shown.length === 0 && <Menu.Label>Nothing to choose from</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  )
}

/** With more options, the list has a search field. */
const optionsAtOnce = 8

/** The options with the searched words, and the field to search in. */
function useOptionSearch(label: string, options: readonly Option[]) {
  const [text, setText] = useState('')
  const search = options.length > optionsAtOnce && (
    <Menu.Search
      aria-label={`Search ${label}`}
      placeholder="Search"
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
    />
  )
  const shown = options.filter((option) => option.label.toLowerCase().includes(text.toLowerCase()))
  return { shown, search, clear: () => setText('') }
}

const countedMax = 10_000

/** What is shown beside each option: nothing until it is counted. Without other filters, the counts of all calls. */
function useCounts(counted: Counted | undefined, opened: boolean): (option: Option) => string {
  const project = useProject()
  const { name = 'status', filters = {} } = counted ?? {}
  const asked = useAsked(filters)
  const isAlone = counted === undefined || !isFiltered({ ...filters, [name]: undefined })
  const { data } = useQuery({
    ...facetCountsQuery(project.id, name, asked),
    enabled: opened && (!isAlone || (counted !== undefined && !hasOwnCounts(name))),
  })
  return ({ value, count }) => {
    if (!data) return isAlone && count !== undefined ? asCount(count) : ''
    const found = data.counts[value] ?? 0
    return found > countedMax ? `${asCount(countedMax)}+` : asCount(found)
  }
}

/** Whether the options themselves say how many calls have each value. */
function hasOwnCounts(name: FilterName): boolean {
  return callFilters.some((filter) => filter.name === name && isMany(filter) && !('choices' in filter))
}

interface PillFormProps extends PopupProps {
  label: string
  form: (close: () => void) => ReactNode
}

/** Shows a form. */
export function PillForm({ label, form, target, opened, onChange }: PillFormProps) {
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-start" trapFocus returnFocus>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={label}>{form(() => onChange(false))}</Popover.Dropdown>
    </Popover>
  )
}
