import { UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconPlus, IconX } from '@tabler/icons-react'
import { lazy, type ReactNode } from 'react'
import { ButtonWithPopup, type PopupProps } from '../../components/popup.tsx'
import classes from './calls.module.css'
import type { Choices } from './filter-labels.ts'

export const loadPopups = () => import('./filter-popups.tsx')
const ChoiceMenu = lazy(async () => ({ default: (await loadPopups()).ChoiceMenu }))
const FormPopover = lazy(async () => ({ default: (await loadPopups()).FormPopover }))

interface PillProps {
  /** The filter's name, such as `Status`. */
  label: string
  /** The chosen value in words; undefined if there is none. */
  chosen: string | undefined
  onClear: () => void
  /** Whether it is opened as soon as it is shown. */
  isOpenAtFirst?: boolean
  onOpen?: (isOpen: boolean) => void
}

/** A filter by one of some values, or by any of them. */
export function ChoicePill({ options, counted, values, isMany, onChoose, ...pill }: PillProps & Choices) {
  return (
    <Pill kind="menu" {...pill}>
      {(popup) => (
        <ChoiceMenu
          {...popup}
          label={pill.label}
          options={options}
          counted={counted}
          values={values}
          isMany={isMany}
          onChoose={onChoose}
        />
      )}
    </Pill>
  )
}

/** A filter with a form of its own. */
export function FormPill({ children, ...pill }: PillProps & { children: (close: () => void) => ReactNode }) {
  return (
    <Pill kind="dialog" {...pill}>
      {(popup) => <FormPopover {...popup} label={pill.label} form={children} />}
    </Pill>
  )
}

/** A filter that can be cleared and not changed. */
export function PlainPill({ label, chosen, onClear }: PillProps) {
  return (
    <div className={classes.pill} data-active>
      <ClearButton label={label} onClear={onClear} />
      <span className={classes.pillOpen}>
        <PillText label={label} chosen={chosen} />
      </span>
    </div>
  )
}

interface PillWithPopupProps extends PillProps {
  kind: 'menu' | 'dialog'
  children: (popup: PopupProps) => ReactNode
}

function Pill({ label, chosen, onClear, kind, children, ...opening }: PillWithPopupProps) {
  const isActive = chosen !== undefined
  return (
    <div className={classes.pill} data-active={isActive || undefined}>
      {isActive && <ClearButton label={label} onClear={onClear} />}
      <ButtonWithPopup
        kind={kind}
        load={loadPopups}
        {...opening}
        button={
          <UnstyledButton className={classes.pillOpen}>
            {!isActive && <IconPlus size={12} stroke={2} aria-hidden />}
            <PillText label={label} chosen={chosen} />
            {isActive && <IconChevronDown size={12} stroke={2} aria-hidden />}
          </UnstyledButton>
        }
      >
        {children}
      </ButtonWithPopup>
    </div>
  )
}

function ClearButton({ label, onClear }: Pick<PillProps, 'label' | 'onClear'>) {
  return (
    <UnstyledButton className={classes.pillClear} aria-label={`Clear ${label}`} onClick={onClear}>
      <IconX size={12} stroke={2} aria-hidden />
    </UnstyledButton>
  )
}

function PillText({ label, chosen }: Pick<PillProps, 'label' | 'chosen'>) {
  return (
    <>
      <span>{label}</span>
      {chosen !== undefined && (
        <>
          <span className={classes.pillLine} aria-hidden />
          <span className={`${classes.pillValue} cb-truncate`} title={chosen} dir="auto">
            {chosen}
          </span>
        </>
      )}
    </>
  )
}
