import { Menu, Popover, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconChevronDown, IconPlus, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { asCount } from '../../components/figures.ts'

interface FilterPillProps {
  /** The filter's name, such as `Status`. */
  label: string
  /** The chosen value in words; undefined if there is none. */
  chosen: string | undefined
  onClear: () => void
}

/** A filter by one of some values. */
export function ChoicePill({
  options,
  value,
  onChoose,
  ...pill
}: FilterPillProps & {
  options: { value: string; label: string; count?: number }[]
  value: string | undefined
  onChoose: (value: string) => void
}) {
  return (
    <Pill {...pill}>
      {(button) => (
        <Menu position="bottom-start" width={240} withInitialFocusPlaceholder={false}>
          <Menu.Target>{button}</Menu.Target>
          <Menu.Dropdown className="cb-calls-choices">
            <Menu.RadioGroup value={value ?? ''} onChange={(next) => onChoose(next)}>
              {options.map((option) => (
                <Menu.RadioItem
                  key={option.value}
                  value={option.value}
                  closeMenuOnClick
                  rightSection={
                    option.count !== undefined && <span className="cb-figure">{asCount(option.count)}</span>
                  }
                >
                  <span className="cb-truncate">{option.label}</span>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            {options.length === 0 && <Menu.Label>Nothing to choose from yet</Menu.Label>}
          </Menu.Dropdown>
        </Menu>
      )}
    </Pill>
  )
}

/** With more options, the list has a search field. */
const optionsAtOnce = 8

/** A filter by any of some values. */
export function ManyPill({
  options,
  values,
  onChoose,
  ...pill
}: FilterPillProps & {
  options: { value: string; label: string; count?: number }[]
  values: string[]
  onChoose: (values: string[]) => void
}) {
  const [text, setText] = useState('')
  const shown = options.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
  return (
    <Pill {...pill}>
      {(button) => (
        <Menu
          position="bottom-start"
          width={264}
          withInitialFocusPlaceholder={false}
          onClose={() => setText('')}
        >
          <Menu.Target>{button}</Menu.Target>
          <Menu.Dropdown className="cb-calls-choices">
            {options.length > optionsAtOnce && (
              <Menu.Search
                aria-label={`Search ${pill.label}`}
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
                  rightSection={
                    option.count !== undefined && <span className="cb-figure">{asCount(option.count)}</span>
                  }
                >
                  <span className="cb-truncate">{option.label}</span>
                </Menu.CheckboxItem>
              ))}
            </Menu.CheckboxGroup>
            {shown.length === 0 && <Menu.Label>Nothing to choose from</Menu.Label>}
          </Menu.Dropdown>
        </Menu>
      )}
    </Pill>
  )
}

/** A filter with a form of its own. */
export function FormPill({
  children,
  ...pill
}: FilterPillProps & { children: (close: () => void) => ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Pill {...pill} onOpen={() => setIsOpen((before) => !before)}>
      {(button) => (
        <Popover opened={isOpen} onChange={setIsOpen} position="bottom-start" trapFocus returnFocus>
          <Popover.Target>{button}</Popover.Target>
          <Popover.Dropdown aria-label={pill.label}>{children(() => setIsOpen(false))}</Popover.Dropdown>
        </Popover>
      )}
    </Pill>
  )
}

/** A filter that can be cleared and not changed. @param isFault whether its value cannot be read */
export function PlainPill({
  label,
  text,
  isFault = false,
  onClear,
}: {
  label: string
  text: string
  isFault?: boolean
  onClear: () => void
}) {
  return (
    <div className="cb-calls-pill" data-active data-fault={isFault || undefined}>
      <UnstyledButton className="cb-calls-pill-clear" aria-label={`Clear ${label}`} onClick={onClear}>
        <IconX size={12} stroke={2} aria-hidden />
      </UnstyledButton>
      <span className="cb-calls-pill-open">
        <span>{label}</span>
        <span className="cb-calls-pill-line" aria-hidden />
        {isFault && <IconAlertTriangle size={12} stroke={2} role="img" aria-label="Cannot be read:" />}
        <span className="cb-calls-pill-value cb-truncate" title={text}>
          {text}
        </span>
      </span>
    </div>
  )
}

function Pill({
  label,
  chosen,
  onClear,
  onOpen,
  children,
}: FilterPillProps & { onOpen?: () => void; children: (button: ReactNode) => ReactNode }) {
  const isActive = chosen !== undefined
  return (
    <div className="cb-calls-pill" data-active={isActive || undefined}>
      {isActive && (
        <UnstyledButton className="cb-calls-pill-clear" aria-label={`Clear ${label}`} onClick={onClear}>
          <IconX size={12} stroke={2} aria-hidden />
        </UnstyledButton>
      )}
      {children(
        <UnstyledButton className="cb-calls-pill-open" onClick={onOpen}>
          {!isActive && <IconPlus size={12} stroke={2} aria-hidden />}
          <span>{label}</span>
          {isActive && (
            <>
              <span className="cb-calls-pill-line" aria-hidden />
              <span className="cb-calls-pill-value cb-truncate">{chosen}</span>
              <IconChevronDown size={12} stroke={2} aria-hidden />
            </>
          )}
        </UnstyledButton>,
      )}
    </div>
  )
}
