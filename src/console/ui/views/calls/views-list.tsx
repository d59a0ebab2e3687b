import { ActionIcon, Popover, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconUsers, IconX } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import classes from './calls.module.css'
import { type ChosenFilters, nameOf } from './chosen-filters.ts'
import { KeepForm } from './keep-form.tsx'
import { savedFilters, useViewChanges } from './view-queries.ts'

interface ViewsListProps {
  filters: ChosenFilters
  onDone: () => void
}

/** Saved filters, private or shared with everybody in the project. */
export default function ViewsPopover({
  filters,
  target,
  opened,
  onChange,
}: PopupProps & { filters: ChosenFilters }) {
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" trapFocus returnFocus width={280}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Views">
        <ViewsList filters={filters} onDone={() => onChange(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

/** Shows a saved view, deletes one, and saves the filters as a new one. */
function ViewsList({ filters, onDone }: ViewsListProps) {
  const project = useProject()
  const navigate = useNavigate()
  const { kept, refresh, change, error } = useViewChanges()
  const show = (query: string) => {
    onDone()
    void navigate({
      to: '/p/$project/calls',
      params: { project: project.id },
      search: savedFilters(query),
    })
  }
  return (
    <>
      {error && <Problem error={error} />}
      {kept.length > 0 && (
        <ul className={classes.views}>
          {kept.map(({ id, name, query, isShared, canChange }) => (
            <li key={id}>
              <UnstyledButton
                className={classes.view}
                aria-current={nameOf(savedFilters(query)) === nameOf(filters) || undefined}
                onClick={() => show(query)}
              >
                <span className="cb-truncate" dir="auto">
                  {name}
                </span>
                {isShared && <IconUsers size={14} role="img" aria-label="Shared with the project" />}
              </UnstyledButton>
              {canChange && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={28}
                  aria-label={`Delete the view ${name}`}
                  onClick={() => change({ kind: 'delete', id })}
                >
                  <IconX size={14} />
                </ActionIcon>
              )}
            </li>
          ))}
        </ul>
      )}
      <KeepForm
        key={nameOf(filters)}
        label="Save these filters as"
        placeholder="Failed this week"
        button="Save view"
        onKeep={async (name, isShared) => {
          const view = { name, isShared, query: stringifySearch({ ...filters, set: undefined }) }
          await unwrap(api.projects({ project: project.id }).views.post(view))
          await refresh()
          onDone()
          notifications.show({ message: `Saved the view “${name}”` })
        }}
      />
    </>
  )
}
