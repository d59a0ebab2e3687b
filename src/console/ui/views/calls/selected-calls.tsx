import { Button, CloseButton, Group, Menu, Popover, Skeleton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import {
  type Icon,
  IconCheck,
  IconDownload,
  IconListCheck,
  IconTag,
  IconTrash,
  IconTrashX,
  IconUser,
} from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import type { ChangedReview, ManyChange } from '../../../../calls/review/schemas.ts'
import { pathOf, read, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Guarded } from '../../components/guarded.tsx'
import { useDates } from '../../components/use-dates.ts'
import { stringifySearch } from '../../search-params.ts'
import { usePerson, useProject, useRefusal } from '../../session.ts'
import { forgetCall } from './call-queries.ts'
import classes from './calls.module.css'
import type { ResolvedFilters } from './chosen-filters.ts'
import { exportFiles } from './list-menu.tsx'
import { totalLabel } from './pages.ts'
import { useStartQueue } from './queue-queries.ts'
import { type CallListData, type Selection, selectedMax } from './use-call-list.ts'

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
          icon={IconListCheck}
          disabled={start.isPending}
          onClick={() => start.mutate({ name: `${counted(count, 'selected call')}`, ids }, { onError })}
        >
          Review
        </BarButton>
      </Guarded>
      {frozen && <ExportCalls set={frozen.id} />}
      <Guarded right="delete">
        <BarButton isDanger icon={IconTrash} disabled={isPending} onClick={deleteSelected}>
          Delete
        </BarButton>
      </Guarded>
      {frozen?.isCapped && (
        <Guarded right="delete">
          <BarButton
            isDanger
            icon={IconTrashX}
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
  icon: Icon
  children: string
  isDanger?: boolean
  disabled?: boolean
  onClick?: () => void
}

function BarButton({ icon: Drawn, children, isDanger = false, ...rest }: BarButtonProps) {
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      leftSection={<Drawn size={14} aria-hidden />}
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
    <BarMenu label="Evaluate" icon={IconCheck} disabled={disabled}>
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
    <BarMenu label="Assign" icon={IconUser} disabled={disabled}>
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
    <BarMenu label="Export" icon={IconDownload} right="see">
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
  icon: Icon
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
    <BarButton icon={IconTag} disabled={disabled} onClick={() => setIsOpen(!isOpen)}>
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

/** How long a change can be undone. */
const undoMs = 20_000
/** Calls of one request to undo a change, which says what each had before. */
const callsPerUndo = 40
const namedMax = 5

/** Changes the selected calls, and offers to undo it. */
export function useManyChange({ ids }: Selection) {
  const { of } = useProject()
  const queryClient = useQueryClient()
  const { review } = of.calls
  const refresh = () => {
    for (const changed of [of.calls, of['call-facets']])
      void queryClient.invalidateQueries({ queryKey: pathOf(changed) })
  }
  const undo = async (change: ManyChange, changed: ChangedReview[]) => {
    let [undone, failed] = [0, 0]
    try {
      for (let at = 0; at < changed.length; at += callsPerUndo) {
        const some = changed.slice(at, at + callsPerUndo)
        const answer = await unwrap(review.undo.post({ change, changed: some }))
        undone += answer.undone.length
        failed += answer.failed.length
      }
      const stayed = failed > 0 ? `. ${counted(failed, 'call')} changed since and stayed` : ''
      notifications.show({ message: `${counted(undone, 'call')} back as before${stayed}` })
    } catch (error) {
      sayNotDone('The change was not undone', error)
    }
    refresh()
  }
  const { mutate, isPending } = useMutation({
    mutationFn: async (change: ManyChange) => {
      const { changed, failed } = await unwrap(review.post({ ids: [...ids], change }))
      refresh()
      const refused =
        failed.length > 0 ? `. ${counted(failed.length, 'call')} failed: ${failed[0]?.message}` : ''
      const done = `${counted(changed.length, 'call')} ${verbOf(change)}${refused}`
      if (changed.length === 0) return void notifications.show({ message: done })
      const id = notifications.show({
        autoClose: undoMs,
        message: (
          <Group component="span" justify="space-between" gap="xs">
            {done}
            <Button
              size="compact-xs"
              variant="light"
              onClick={() => {
                notifications.hide(id)
                void undo(change, changed)
              }}
            >
              Undo
            </Button>
          </Group>
        ),
      })
    },
    onError: (error) => sayNotDone('The calls were not changed', error),
  })
  return { change: mutate, isPending }
}

/** What was done to the calls: `labeled`. */
function verbOf({ evaluation, reviewed, assignee, addLabels = [], removeLabels = [] }: ManyChange): string {
  if (evaluation !== undefined) return evaluation === null ? 'cleared of people’s evaluations' : 'evaluated'
  if (reviewed !== undefined) return reviewed ? 'marked as reviewed' : 'marked as not reviewed'
  if (assignee !== undefined) return assignee === null ? 'unassigned' : 'assigned'
  return addLabels.length > 0 ? 'labeled' : `cleared of ${counted(removeLabels.length, 'label')}`
}

/** Says how many calls are deleted, and asks once more. @param onDeleted called with the ids of those deleted */
export function useDeleteSelected(
  selection: Selection,
  rows: readonly CallRow[],
  onDeleted: (ids: readonly string[]) => void,
) {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const ask = useConfirm()
  const ids = [...selection.ids]
  const calls = counted(ids.length, 'call')
  return () =>
    ask({
      title: `Delete ${calls}?`,
      verb: `Delete ${calls}`,
      text: (
        <Deletion
          calls={ids.length}
          named={rows.filter(({ id }) => selection.ids.has(id)).slice(0, namedMax)}
        />
      ),
      send: () => of.calls.delete({ ids }),
      done: ({ deleted, held }) => {
        onDeleted(deleted)
        for (const id of deleted) forgetCall(queryClient, project, id)
        const stays =
          held.length === 1 ? 'is on hold and was not deleted' : 'are on hold and were not deleted'
        notifications.show({
          message: `${counted(deleted.length, 'call')} ${deleted.length === 1 ? 'was' : 'were'} deleted`,
          ...(held.length > 0 ? { color: 'red', title: `${counted(held.length, 'call')} ${stays}` } : {}),
        })
        selection.set([])
      },
    })
}

/** Counts all calls that match, and asks once more before they are deleted. */
export function useDeleteMatching(selection: Selection, filters: ResolvedFilters) {
  const { of } = useProject()
  const ask = useConfirm()
  const query = stringifySearch(filters) || '?'
  return useMutation({
    mutationFn: () => unwrap(of['call-sets'].delete({ query, dryRun: true })),
    onError: (error) => sayNotDone('The calls could not be counted', error),
    onSuccess: ({ calls, onHold = 0 }) =>
      ask({
        title: `Delete ${counted(calls, 'call')}?`,
        verb: `Delete ${counted(calls, 'call')}`,
        text: (
          <>
            {onHold > 0 && (
              <p>
                {counted(onHold, 'call')} {onHold === 1 ? 'is on hold and stays' : 'are on hold and stay'}.
              </p>
            )}
            <Deletion calls={calls} named={[]} />
          </>
        ),
        send: () => of['call-sets'].delete({ query }),
        says: ({ calls: deleted }) =>
          `${counted(deleted, 'call')} ${deleted === 1 ? 'is' : 'are'} being deleted`,
        done: () => selection.set([]),
      }),
  })
}

/** What a deletion means, and the first of the calls. */
function Deletion({ calls, named }: { calls: number; named: readonly CallRow[] }) {
  const dates = useDates()
  return (
    <>
      {named.length > 0 && (
        <ul>
          {named.map(({ id, createdAt, numbers: { callerNumber } }) => (
            <li key={id} className="cb-figure">
              {dates.moment(createdAt)}
              {callerNumber !== null && ` · ${callerNumber}`}
            </li>
          ))}
          {calls > named.length && <li>and {asCount(calls - named.length)} more</li>}
        </ul>
      )}
      <p>
        This deletes these calls for good, with their transcripts, summaries, analyses and details. This
        cannot be undone, and their IDs cannot be used again.
      </p>
    </>
  )
}
