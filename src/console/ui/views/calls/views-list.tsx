import { ActionIcon, Popover, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconUsers, IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { parseSearch, stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import classes from './calls.module.css'
import { type ChosenFilters, nameOf, readFilters } from './chosen-filters.ts'
import { KeepForm } from './keep-form.tsx'
import { viewsQuery } from './view-queries.ts'

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
  const queryClient = useQueryClient()
  const views = api.projects({ project: project.id }).views
  const { queryKey } = viewsQuery(project.id, 'calls')
  const { data, error } = useQuery(viewsQuery(project.id, 'calls'))
  const remove = useMutation({
    mutationFn: (id: string) => unwrap(views({ id }).delete()),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const show = (query: string) => {
    onDone()
    const search = readFilters(parseSearch(query))
    void navigate({ to: '/p/$project/calls', params: { project: project.id }, search })
  }
  const kept = data ?? []
  return (
    <>
      {error && <Problem error={error} />}
      {kept.length > 0 && (
        <ul className={classes.views}>
          {kept.map(({ id, name, query, isShared, canChange }) => (
            <li key={id}>
              <UnstyledButton
                className={classes.view}
                aria-current={nameOf(readFilters(parseSearch(query))) === nameOf(filters) || undefined}
                onClick={() => show(query)}
              >
                <span className="cb-truncate">{name}</span>
                {isShared && <IconUsers size={14} role="img" aria-label="Shared with the project" />}
              </UnstyledButton>
              {canChange && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={28}
                  aria-label={`Delete the view ${name}`}
                  onClick={() => remove.mutate(id)}
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
          await unwrap(views.post({ name, isShared, query: stringifySearch(filters) }))
          await queryClient.invalidateQueries({ queryKey })
          onDone()
          notifications.show({ message: `Saved the view “${name}”` })
        }}
      />
    </>
  )
}
