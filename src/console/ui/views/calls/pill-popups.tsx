import { Menu, Popover } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { asCount } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import classes from './calls.module.css'

/** A value that a filter offers. */
export interface Option {
  value: string
  label: string
  /** How many calls have it. */
  count?: number
}

interface ChoicesProps extends PopupProps {
  options: Option[]
  value: string | undefined
  onChoose: (value: string) => void
}

/** Offers values, of which one can be chosen. */
export function Choices({ options, value, onChoose, target, ...popup }: ChoicesProps) {
  return (
    <Menu position="bottom-start" width={240} withInitialFocusPlaceholder={false} {...popup}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.choices}>
        <Menu.RadioGroup value={value ?? ''} onChange={(next) => onChoose(next)}>
          {options.map((option) => (
            <Menu.RadioItem
              key={option.value}
              value={option.value}
              closeMenuOnClick
              rightSection={<Count of={option} />}
            >
              <span className="cb-truncate">{option.label}</span>
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        {options.length === 0 && <Menu.Label>Nothing to choose from yet</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  )
}

/** With more options, the list has a search field. */
const optionsAtOnce = 8

interface ManyChoicesProps extends PopupProps {
  label: string
  options: Option[]
  values: string[]
  onChoose: (values: string[]) => void
}

/** Offers values, of which any can be chosen. */
export function ManyChoices({ label, options, values, onChoose, target, ...popup }: ManyChoicesProps) {
  const [text, setText] = useState('')
  const shown = options.filter((option) => option.label.toLowerCase().includes(text.toLowerCase()))
  return (
    <Menu
      position="bottom-start"
      width={264}
      withInitialFocusPlaceholder={false}
      onClose={() => setText('')}
      {...popup}
    >
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown className={classes.choices}>
        {options.length > optionsAtOnce && (
          <Menu.Search
            aria-label={`Search ${label}`}
            placeholder="Search"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Menu.CheckboxGroup value={values} onChange={onChoose}>
          {shown.map((option) => (
            <Menu.CheckboxItem
              key={option.value}
              value={option.value}
              closeMenuOnClick={false}
              rightSection={<Count of={option} />}
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

function Count({ of: { count } }: { of: Option }) {
  return count !== undefined && <span className="cb-figure">{asCount(count)}</span>
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
