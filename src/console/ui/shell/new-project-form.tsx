import { TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, unwrap } from '../api.ts'
import { ActionForm } from '../components/action-form.tsx'
import { fieldErrors, isAboutFields } from '../components/field-errors.ts'
import { Problem } from '../components/problem.tsx'
import { sessionQuery } from '../session.ts'

interface NewProjectFormProps {
  onMade?: () => void
  /** Shows a Cancel button. */
  onCancel?: () => void
}

/** Creates a project and opens it. */
export function NewProjectForm({ onMade, onCancel }: NewProjectFormProps) {
  const [name, setName] = useState('')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api.projects.post({ name: name.trim() })),
    onSuccess: async (project) => {
      await queryClient.refetchQueries(sessionQuery)
      onMade?.()
      await navigate({ to: '/p/$project/overview', params: { project: project.id } })
    },
  })
  return (
    <ActionForm
      label="Create project"
      isReady={name.trim() !== ''}
      isPending={isPending}
      onSubmit={mutate}
      onCancel={onCancel}
    >
      <TextInput
        label="Name"
        description="Make one project for each company or product. Calls and knowledge of one project never show in another."
        placeholder="Lakeside Dental"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        autoComplete="off"
        error={fieldErrors(error).name}
        data-autofocus
      />
      {error && !isAboutFields(error, ['name']) && <Problem error={error} />}
    </ActionForm>
  )
}
