import { Button, CloseButton, Menu, Popover, Skeleton } from '@mantine/core'
import {
  IconCheck,
  IconDownload,
  IconListCheck,
  IconTag,
  IconTrash,
  IconTrashX,
  IconUser,
} from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react'
import type { ManyChange } from '../../../../calls/review/schemas.ts'
import { read, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { asCount, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { stringifySearch } from '../../search-params.ts'
import { usePerson, useProject, useRefusal } from '../../session.ts'
import classes from './calls.module.css'
import type { ResolvedFilters } from './chosen-filters.ts'
import { exportFiles } from './list-menu.tsx'
import { totalLabel } from './pages.ts'
import { useStartQueue } from './queue-queries.ts'
import { useDeleteMatching, useDeleteSelected, useManyChange } from './selected-changes.tsx'
import { type Selection, selectedMax } from './selection.ts'
import type { CallListData } from './use-call-list.ts'

const LabelForm = lazy(() => import('./label-form.tsx'))

interface SelectedCallsProps {
  selection: Selection
  list: CallListData
  /** The filters of the list, as the API takes them. */
  resolvedFilters: ResolvedFilters
  openId: string | undefined
  /** Closes the open call. */
  onClose: () => void
}

/** What can be done with the selected calls: those that were chosen, or all that match. */
export default function SelectedCalls({
  selection,
  list,
  resolvedFilters,
  openId,
  onClose,
}: SelectedCallsProps) {
  const { change, isPending } = useManyChange(selection)
  const { ids, frozen } = selection
  const count = ids.size
  const start = useStartQueue()
  const deleteSelected = useDeleteSelected(selection, list.rows ?? [], (deleted) => {
    if (openId !== undefined && deleted.includes(openId)) onClose()
  })
  const deleteMatching = useDeleteMatching(selection, resolvedFilters)
  const onError = (error: Error) => sayNotDone('The queue was not started', error)
  const part = { onChange: change, disabled: isPending }
  return (
    <section className={classes.selected} aria-label="Selected calls">
      <span role="status">
        {asCount(count)} selected{frozen?.isCapped && ', the first of those that match'}
      </span>
      {!frozen && <SelectAll selection={selection} list={list} resolvedFilters={resolvedFilters} />}
      <EvaluateCalls {...part} />
      <LabelCalls selection={selection} list={list} {...part} />
      <AssignCalls {...part} />
      <Guarded right="change">
        <BarButton
          icon={<IconListCheck size={14} aria-hidden />}
          disabled={start.isPending}
          onClick={() => start.mutate({ name: `${counted(count, 'selected call')}`, ids }, { onError })}
        >
          Review
        </BarButton>
      </Guarded>
      {frozen && <ExportCalls set={frozen.id} />}
      <Guarded right="delete">
        <BarButton
          isDanger
          icon={<IconTrash size={14} aria-hidden />}
          disabled={isPending}
          onClick={deleteSelected}
        >
          Delete
        </BarButton>
      </Guarded>
      {frozen?.isCapped && (
        <Guarded right="delete">
          <BarButton
            isDanger
            icon={<IconTrashX size={14} aria-hidden />}
            disabled={isPending || deleteMatching.isPending}
            onClick={() => deleteMatching.mutate()}
          >
            Delete all that match
          </BarButton>
        </Guarded>
      )}
      <CloseButton size="sm" aria-label="Clear selection" onClick={() => selection.set([])} />
    </section>
  )
}

interface BarButtonProps {
  icon: ReactNode
  children: string
  isDanger?: boolean
  disabled?: boolean
  onClick?: () => void
}

function BarButton({ icon, children, isDanger = false, ...rest }: BarButtonProps): ReactElement {
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      leftSection={icon}
      {...(isDanger ? { color: 'red', c: 'var(--cb-danger-text)' } : { color: 'gray' })}
      {...rest}
    >
      {children}
    </Button>
  )
}

/** Offers all calls that match, once those that are loaded are selected. */
function SelectAll({
  selection,
  list,
  resolvedFilters,
}: Pick<SelectedCallsProps, 'selection' | 'list' | 'resolvedFilters'>) {
  const { of } = useProject()
  const freeze = useMutation({
    mutationFn: () => unwrap(of['call-sets'].post({ query: stringifySearch(resolvedFilters) || '?' })),
    onError: (error) => sayNotDone('The calls were not selected', error),
  })
  const { rows = [], first, hasNextPage } = list
  const isMore = hasNextPage || rows.length > selection.ids.size
  if (!first || !selection.isAll || !isMore) return null
  const isMany = first.total === null || first.total > selectedMax
  return (
    <Button
      size="compact-sm"
      variant="light"
      loading={freeze.isPending}
      // Not of the mutation: an answer for a selection that is gone freezes nothing.
      onClick={() => freeze.mutate(undefined, { onSuccess: selection.freeze })}
    >
      {isMany ? `Select the first ${asCount(selectedMax)}` : `Select all ${totalLabel(first)}`}
    </Button>
  )
}

interface ChangeProps {
  onChange: (change: ManyChange) => void
  disabled: boolean
}

function EvaluateCalls({ onChange, disabled }: ChangeProps) {
  return (
    <BarMenu label="Evaluate" icon={<IconCheck size={14} aria-hidden />} disabled={disabled}>
      <Menu.Item onClick={() => onChange({ evaluation: 'success' })}>Success</Menu.Item>
      <Menu.Item onClick={() => onChange({ evaluation: 'fail' })}>Failed</Menu.Item>
      <Menu.Item onClick={() => onChange({ evaluation: null })}>Remove people’s evaluations</Menu.Item>
      <Menu.Divider />
      <Menu.Item onClick={() => onChange({ reviewed: true })}>Reviewed</Menu.Item>
      <Menu.Item onClick={() => onChange({ reviewed: false })}>Not reviewed</Menu.Item>
    </BarMenu>
  )
}

function AssignCalls({ onChange, disabled }: ChangeProps) {
  const { of } = useProject()
  const person = usePerson()
  const { data: { names } = { names: [person.name] } } = useQuery(read(of['call-sets'].reviewers))
  return (
    <BarMenu label="Assign" icon={<IconUser size={14} aria-hidden />} disabled={disabled}>
      <div className={classes.menu}>
        {names.map((name) => (
          <Menu.Item key={name} dir="auto" onClick={() => onChange({ assignee: name })}>
            {name}
            {name === person.name && <span className="cb-dimmed"> (you)</span>}
          </Menu.Item>
        ))}
      </div>
      <Menu.Divider />
      <Menu.Item onClick={() => onChange({ assignee: null })}>Nobody</Menu.Item>
    </BarMenu>
  )
}

function ExportCalls({ set }: { set: string }) {
  const project = useProject()
  return (
    <BarMenu label="Export" icon={<IconDownload size={14} aria-hidden />} right="see">
      {exportFiles.map(({ name, label }) => (
        <Menu.Item
          key={name}
          component="a"
          href={`/console/api/projects/${project.id}/exports/${name}${stringifySearch({ set })}`}
          download={name}
        >
          {label}
        </Menu.Item>
      ))}
    </BarMenu>
  )
}

interface BarMenuProps {
  label: string
  icon: ReactNode
  right?: 'see' | 'change'
  disabled?: boolean
  children: ReactNode
}

function BarMenu({ label, icon, right = 'change', disabled = false, children }: BarMenuProps) {
  const [isOpen, setIsOpen] = useState(false)
  const isRefused = useRefusal(right) !== null
  const button = (
    <BarButton icon={icon} disabled={disabled}>
      {label}
    </BarButton>
  )
  if (isRefused) return <Guarded right={right}>{button}</Guarded>
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="top-start" returnFocus>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}

/** Adds labels to the selected calls, and takes others away. */
function LabelCalls({
  selection,
  list,
  onChange,
  disabled,
}: ChangeProps & Pick<SelectedCallsProps, 'selection' | 'list'>) {
  const [isOpen, setIsOpen] = useState(false)
  const isRefused = useRefusal('change') !== null
  const { ids, frozen } = selection
  const selected = (list.rows ?? []).filter(({ id }) => ids.has(id))
  const button = (
    <BarButton
      icon={<IconTag size={14} aria-hidden />}
      disabled={disabled}
      onClick={() => setIsOpen(!isOpen)}
    >
      Label
    </BarButton>
  )
  if (isRefused) return <Guarded right="change">{button}</Guarded>
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="top" trapFocus returnFocus>
      <Popover.Target>{button}</Popover.Target>
      <Popover.Dropdown aria-label="Label selected calls">
        <Suspense fallback={<Skeleton width={252} height={108} />}>
          <LabelForm
            calls={ids.size}
            held={frozen ? null : [...new Set(selected.flatMap(({ review }) => review?.labels ?? []))]}
            onApply={(addLabels, removeLabels) => {
              setIsOpen(false)
              onChange({ addLabels, removeLabels })
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
