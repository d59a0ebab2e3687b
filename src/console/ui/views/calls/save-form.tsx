import { Button, Checkbox, Popover, Stack, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { unwrap } from '../../api.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { stringifySearch } from '../../search-params.ts'
import { useProject, useRefusal } from '../../session.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { useViewChanges } from './view-queries.ts'

interface SaveFormProps {
  label: string
  placeholder?: string
  /** The name that is proposed. */
  proposed?: string
  button: string
  onSave: (name: string, isShared: boolean) => Promise<void>
}

/** Saves an address under a name, for the person or for everybody in the project. */
export function SaveForm({ label, placeholder, proposed = '', button, onSave }: SaveFormProps) {
  const [name, setName] = useState(proposed)
  const [isShared, setIsShared] = useState(false)
  const refusal = useRefusal('change')
  const first = useFocus<HTMLInputElement>()
  const { mutate, isPending, error } = useMutation({ mutationFn: () => onSave(name.trim(), isShared) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) mutate()
  }
  return (
    <Stack component="form" gap="xs" onSubmit={submit}>
      <TextInput
        ref={first}
        label={label}
        placeholder={placeholder}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox
        size="xs"
        label="Share with everyone in the project"
        description={refusal}
        disabled={refusal !== null}
        checked={isShared}
        onChange={(event) => setIsShared(event.currentTarget.checked)}
      />
      {error && <Problem error={error} />}
      <Button type="submit" size="xs" loading={isPending} disabled={name.trim() === ''}>
        {button}
      </Button>
    </Stack>
  )
}

/** Saves the filters of the list as a view. */
export function SavePopover({ filters, ...popup }: PopupProps & { filters: ChosenFilters }) {
  const { of } = useProject()
  const { refresh } = useViewChanges()
  const save = async (name: string, isShared: boolean) => {
    await unwrap(of.views.post({ name, isShared, query: stringifySearch(filters) }))
    await refresh()
    popup.onChange(false)
    notifications.show({ message: `Saved the view “${name}”` })
  }
  return (
    <FormPopover {...popup} label="Save as view" position="bottom-start">
      <SaveForm
        label="Save these filters as"
        placeholder="Failed this week"
        button="Save view"
        onSave={save}
      />
    </FormPopover>
  )
}

interface FormPopoverProps extends PopupProps {
  label: string
  position: 'bottom-start' | 'bottom-end'
  children: ReactNode
}

/** A form below the button that opens it. */
export function FormPopover({ label, position, target, opened, onChange, children }: FormPopoverProps) {
  return (
    <Popover opened={opened} onChange={onChange} position={position} trapFocus returnFocus width={300}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={label}>{children}</Popover.Dropdown>
    </Popover>
  )
}
