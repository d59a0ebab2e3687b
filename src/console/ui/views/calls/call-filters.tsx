import { Anchor, Button, UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { lazy, type ReactNode, useEffect, useRef, useState, type WheelEvent } from 'react'
import { type FilterName, prefixOf } from '../../../../calls/filters.ts'
import type { FoundBy } from '../../../../calls/finding/search-box.ts'
import { ButtonWithPopup } from '../../components/popup.tsx'
import { SearchField } from '../../components/search-field.tsx'
import { CallerLink, isWholeNumber } from '../callers/caller-link.tsx'
import classes from './calls.module.css'
import {
  type ChosenFilters,
  type Fault,
  type FilterChange,
  filterKey,
  isFiltered,
  withoutFaults,
} from './chosen-filters.ts'
import { type FilterField, useFilterFields } from './filter-fields.tsx'
import { filterLabels } from './filter-labels.ts'
import { ChoicePill, FormPill, loadPopups, PlainPill } from './pill.tsx'

const AddFilterMenu = lazy(async () => ({ default: (await loadPopups()).AddFilterMenu }))

interface CallFiltersProps {
  label?: string
  filters: ChosenFilters
  faults: readonly Fault[]
  /** How the text was read; null while unknown. */
  foundBy: FoundBy | null
  /** Filters that are not offered. */
  omitted?: readonly FilterName[]
  /** `isTyping` is set for a pause in typing, which adds no history entry. */
  onChange: (change: FilterChange, isTyping?: boolean) => void
  onClear: () => void
  /** Whether they scroll sideways, so that nothing below them moves. They do in a low window, too. */
  isOneLine?: boolean
  /** What else can be done with the filters that are set. */
  children?: ReactNode
}

const none: readonly FilterName[] = []

/** The search field, a menu of filters, a pill for each that is set, and what of the address cannot be read. */
export function CallFilters(props: CallFiltersProps) {
  const { filters: all, faults, foundBy, omitted = none, onChange, onClear, children } = props
  const { label = 'Filter calls', isOneLine = false } = props
  const isLow = useMediaQuery('(max-height: 560px) and (min-width: 641px)')
  const filters = withoutFaults(all, faults)
  const isSet = isFiltered(all)
  return (
    <search className={classes.filters} data-one-line={isOneLine || isLow || undefined} aria-label={label}>
      {!omitted.includes('text') && (
        <SearchField
          label="Search words, numbers, IDs"
          text={filters.text ?? ''}
          onSearch={(text) => onChange({ text: text || undefined }, true)}
        />
      )}
      <div className={classes.pills} onWheel={scrollAlong}>
        <Pills filters={filters} omitted={omitted} onChange={onChange} />
        {isSet && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-label="Clear filters"
            onClick={onClear}
          >
            Clear
          </Button>
        )}
        {children}
      </div>
      {faults.length > 0 && (
        <p className={`cb-note ${classes.found}`} role="alert">
          Cannot be read: {faults.map(({ name, message }) => `${labelOf(name)} ${message}`).join('; ')}.{' '}
          <LinkButton
            onClick={() => onChange(Object.fromEntries(faults.map(({ name }) => [name, undefined])))}
          >
            Remove {faults.length === 1 ? 'it' : 'them'}
          </LinkButton>
        </p>
      )}
      {filters.text !== undefined && (foundBy === 'number' || foundBy === 'id') && (
        <p className={`cb-note ${classes.found}`}>
          {foundBy === 'number'
            ? 'Showing calls from or to a number that starts or ends like this.'
            : 'Showing calls whose ID starts like this.'}{' '}
          <LinkButton onClick={() => onChange({ text: `"${filters.text}"` })}>
            Search the conversation instead
          </LinkButton>
          {foundBy === 'number' && isWholeNumber(filters.text) && (
            <>
              {' · '}
              <CallerLink number={filters.text}>Open the person</CallerLink>
            </>
          )}
        </p>
      )}
    </search>
  )
}

type PillsProps = Required<Pick<CallFiltersProps, 'filters' | 'omitted' | 'onChange'>>

/** The menu of filters, those that are set, and the one that is being set. */
function Pills({ filters, omitted, onChange }: PillsProps) {
  const { open, setOpen, change, follow } = useOpenPill(filters, onChange)
  const adding = useRef<HTMLButtonElement>(null)
  const fields = useFilterFields({ filters, omitted, onChange: change, isOffering: open !== null })
  const before = useRef(open)
  useEffect(() => {
    // What had the focus is gone with a pill that was not set.
    if (before.current !== null && open === null && document.activeElement === document.body)
      adding.current?.focus()
    before.current = open
  }, [open])
  return (
    <>
      <ButtonWithPopup
        kind="menu"
        load={loadPopups}
        button={
          <UnstyledButton ref={adding} className={`${classes.pill} ${classes.pillOpen}`}>
            <IconPlus size={12} stroke={2} aria-hidden />
            Filter
          </UnstyledButton>
        }
      >
        {(popup) => (
          <AddFilterMenu
            {...popup}
            filters={filters}
            omitted={omitted}
            onFilter={onChange}
            onAdd={({ name }) => setOpen(name)}
          />
        )}
      </ButtonWithPopup>
      {fields.map(
        (field) =>
          (field.chosen !== undefined || field.name === open) && (
            <FieldPill
              key={field.name}
              field={field}
              isOpenAtFirst={field.name === open}
              onOpen={(isOpen) => follow(field, isOpen)}
              onClear={() => {
                setOpen(null)
                field.onClear()
              }}
            />
          ),
      )}
    </>
  )
}

/** The pill whose values are chosen. It stays while they are, though none is at first, or none any longer. */
function useOpenPill(filters: ChosenFilters, onChange: (change: FilterChange) => void) {
  const [open, setOpen] = useState<string | null>(null)
  const isSet = useRef(false)
  const now = filterKey(filters)
  /** The filters when it was closed, until the address has what was chosen. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  if (closedAt !== null && closedAt !== now) {
    setClosedAt(null)
    setOpen(null)
  }
  return {
    open,
    setOpen,
    change: (next: FilterChange) => {
      isSet.current = Object.values(next).some((value) => value !== undefined)
      onChange(next)
    },
    follow: ({ name, chosen }: FilterField, isOpen: boolean) => {
      if (isOpen) {
        isSet.current = false
        setOpen(name)
      } else if (isSet.current && chosen === undefined) setClosedAt(now)
      else setOpen(null)
    },
  }
}

interface FieldPillProps {
  field: FilterField
  isOpenAtFirst: boolean
  onOpen: (isOpen: boolean) => void
  onClear: () => void
}

function FieldPill({ field: { label, chosen, control }, ...rest }: FieldPillProps) {
  const pill = { label, chosen, ...rest }
  if (!control) return <PlainPill label={label} chosen={chosen} onClear={rest.onClear} />
  return 'form' in control ? (
    <FormPill {...pill}>{control.form}</FormPill>
  ) : (
    <ChoicePill {...pill} {...control} />
  )
}

function LinkButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Anchor component="button" type="button" inherit underline="always" onClick={onClick}>
      {children}
    </Anchor>
  )
}

/** Scrolls sideways with a vertical wheel. */
function scrollAlong({ currentTarget, deltaX, deltaY }: WheelEvent<HTMLElement>): void {
  if (deltaX === 0) currentTarget.scrollLeft += deltaY
}

function labelOf(name: Fault['name']): string {
  if (name === 'order') return 'Order'
  if (name === 'date') return filterLabels.from
  const prefix = prefixOf(name)
  return prefix ? name.slice(prefix.length) : filterLabels[name as FilterName]
}
