import { Popover, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { viewsQuery } from '../calls/view-queries.ts'

interface RenameChartProps extends PopupProps {
  id: string
  name: string
}

/** Gives a kept chart another name. */
export default function RenameChart({ id, name, target, opened, onChange }: RenameChartProps) {
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" trapFocus returnFocus width={320}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Rename chart">
        {/* Begins with the name that the chart has now. */}
        <RenameForm key={name} id={id} name={name} onDone={() => onChange(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

function RenameForm({ id, name, onDone }: Pick<RenameChartProps, 'id' | 'name'> & { onDone: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [typed, setTyped] = useState(name)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api.projects({ project }).views({ id }).patch({ name: typed })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: viewsQuery(project, 'chart').queryKey })
      onDone()
    },
  })
  return (
    <ActionForm label="Rename" isReady={typed.trim() !== ''} isPending={isPending} onSubmit={mutate}>
      <TextInput
        label="Name"
        maxLength={100}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        error={fieldErrors(error).name}
        data-autofocus
      />
      {error && !isAboutFields(error, ['name']) && <Problem error={error} />}
    </ActionForm>
  )
}
