import { ActionIcon, Button, Checkbox, Popover, TextInput, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBookmark, IconUsers, IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { parseSearch, stringifySearch } from '../../search-params.ts'
import { useProject, useRefusal } from '../../session.ts'
import { type ChosenFilters, nameOf, readFilters } from './chosen-filters.ts'

/** Filters that are kept under a name, for oneself or for everybody in the project. */
export function ViewsMenu({ filters }: { filters: ChosenFilters }) {
  const project = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [isOpen, setIsOpen] = useState(false)
  const views = api.projects({ project: project.id }).views
  const queryKey = ['views', project.id]
  const { data, error } = useQuery({ queryKey, queryFn: () => unwrap(views.get()), enabled: isOpen })
  const remove = useMutation({
    mutationFn: (id: string) => unwrap(views({ id }).delete()),
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  })
  const show = (query: string) => {
    setIsOpen(false)
    const search = readFilters(parseSearch(query))
    void navigate({ to: '/p/$project/calls', params: { project: project.id }, search })
  }
  const kept = data?.data ?? []
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" trapFocus returnFocus width={280}>
      <Popover.Target>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconBookmark size={14} aria-hidden />}
          onClick={() => setIsOpen(!isOpen)}
        >
          Views
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Views">
        {error && <Problem error={error} />}
        {kept.length > 0 && (
          <ul className="cb-calls-views">
            {kept.map(({ id, name, query, isShared, canDelete }) => (
              <li key={id}>
                <UnstyledButton
                  className="cb-calls-view"
                  aria-current={nameOf(readFilters(parseSearch(query))) === nameOf(filters) || undefined}
                  onClick={() => show(query)}
                >
                  <span className="cb-truncate">{name}</span>
                  {isShared && <IconUsers size={14} role="img" aria-label="Shared with the project" />}
                </UnstyledButton>
                {canDelete && (
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
        <KeepView
          key={nameOf(filters)}
          onKeep={async (name, isShared) => {
            await unwrap(views.post({ name, isShared, query: stringifySearch(filters) }))
            await queryClient.invalidateQueries({ queryKey })
            setIsOpen(false)
            notifications.show({ message: `Saved the view “${name}”` })
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function KeepView({ onKeep }: { onKeep: (name: string, isShared: boolean) => Promise<void> }) {
  const [name, setName] = useState('')
  const [isShared, setIsShared] = useState(false)
  const refusal = useRefusal('change')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => onKeep(name.trim(), isShared),
    onSuccess: () => setName(''),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) mutate()
  }
  return (
    <form className="cb-calls-keep" onSubmit={submit}>
      <TextInput
        label="Save these filters as"
        placeholder="Failed this week"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Checkbox
        size="xs"
        label="Everybody in the project sees it"
        description={refusal}
        disabled={refusal !== null}
        checked={isShared}
        onChange={(event) => setIsShared(event.currentTarget.checked)}
      />
      {error && <Problem error={error} />}
      <Button type="submit" size="xs" loading={isPending} disabled={name.trim() === ''}>
        Save view
      </Button>
    </form>
  )
}
