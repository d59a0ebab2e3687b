import { UnstyledButton } from '@mantine/core'
import { IconAlertTriangle, IconChevronDown, IconPlus, IconX } from '@tabler/icons-react'
import { lazy, type ReactNode } from 'react'
import { ButtonWithPopup, type PopupProps } from '../../components/popup.tsx'
import classes from './calls.module.css'
import type { Counted, Option } from './pill-popups.tsx'

const load = () => import('./pill-popups.tsx')
const Choices = lazy(async () => ({ default: (await load()).Choices }))
const ManyChoices = lazy(async () => ({ default: (await load()).ManyChoices }))
const PillForm = lazy(async () => ({ default: (await load()).PillForm }))

interface FilterPillProps {
  /** The filter's name, such as `Status`. */
  label: string
  /** The chosen value in words; undefined if there is none. */
  chosen: string | undefined
  onClear: () => void
}

interface ChoicePillProps extends FilterPillProps {
  options: Option[]
  counted?: Counted | undefined
  value: string | undefined
  onChoose: (value: string) => void
}

/** A filter by one of some values. */
export function ChoicePill({ options, counted, value, onChoose, ...pill }: ChoicePillProps) {
  return (
    <Pill kind="menu" {...pill}>
      {(popup) => (
        <Choices
          {...popup}
          label={pill.label}
          options={options}
          counted={counted}
          value={value}
          onChoose={onChoose}
        />
      )}
    </Pill>
  )
}

interface ManyPillProps extends FilterPillProps {
  options: Option[]
  counted?: Counted | undefined
  values: string[]
  onChoose: (values: string[]) => void
}

/** A filter by any of some values. */
export function ManyPill({ options, counted, values, onChoose, ...pill }: ManyPillProps) {
  return (
    <Pill kind="menu" {...pill}>
      {(popup) => (
        <ManyChoices
          {...popup}
          label={pill.label}
          counted={counted}
          options={options}
          values={values}
          onChoose={onChoose}
        />
      )}
    </Pill>
  )
}

interface FormPillProps extends FilterPillProps {
  children: (close: () => void) => ReactNode
}

/** A filter with a form of its own. */
export function FormPill({ children, ...pill }: FormPillProps) {
  return (
    <Pill kind="dialog" {...pill}>
      {(popup) => <PillForm {...popup} label={pill.label} form={children} />}
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
    <div className={classes.pill} data-active data-fault={isFault || undefined}>
      <UnstyledButton className={classes.pillClear} aria-label={`Clear ${label}`} onClick={onClear}>
        <IconX size={12} stroke={2} aria-hidden />
      </UnstyledButton>
      <span className={classes.pillOpen}>
        <span>{label}</span>
        <span className={classes.pillLine} aria-hidden />
        {isFault && <IconAlertTriangle size={12} stroke={2} role="img" aria-label="Cannot be read:" />}
        <span className={`${classes.pillValue} cb-truncate`} title={text}>
          {text}
        </span>
      </span>
    </div>
  )
}

interface PillProps extends FilterPillProps {
  kind: 'menu' | 'dialog'
  children: (popup: PopupProps) => ReactNode
}

function Pill({ label, chosen, onClear, kind, children }: PillProps) {
  const isActive = chosen !== undefined
  return (
    <div className={classes.pill} data-active={isActive || undefined}>
      {isActive && (
        <UnstyledButton className={classes.pillClear} aria-label={`Clear ${label}`} onClick={onClear}>
          <IconX size={12} stroke={2} aria-hidden />
        </UnstyledButton>
      )}
      <ButtonWithPopup
        kind={kind}
        load={load}
        button={
          <UnstyledButton className={classes.pillOpen}>
            {!isActive && <IconPlus size={12} stroke={2} aria-hidden />}
            <span>{label}</span>
            {isActive && (
              <>
                <span className={classes.pillLine} aria-hidden />
                <span className={`${classes.pillValue} cb-truncate`}>{chosen}</span>
                <IconChevronDown size={12} stroke={2} aria-hidden />
              </>
            )}
          </UnstyledButton>
        }
      >
        {children}
      </ButtonWithPopup>
    </div>
  )
}
