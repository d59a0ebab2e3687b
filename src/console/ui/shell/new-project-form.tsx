import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api.ts'
import { ApiForm, useApiForm } from '../components/api-form.tsx'
import { sessionQuery } from '../session.ts'

interface NewProjectFormProps {
  onMade?: () => void
  /** Shows a Cancel button. */
  onCancel?: () => void
}

/** Creates a project and opens it. */
export function NewProjectForm({ onMade, onCancel }: NewProjectFormProps) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const form = useApiForm({
    first: { name: '' },
    needs: ['name'],
    body: ({ name }) => ({ name: name.trim() }),
    send: (body) => api.projects.post(body),
    done: async ({ id }) => {
      await queryClient.refetchQueries(sessionQuery)
      onMade?.()
      await navigate({ to: '/p/$project/overview', params: { project: id } })
    },
  })
  return (
    <ApiForm form={form} label="Create project" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Create one project for each company or product. Projects never see each other’s calls or knowledge."
        placeholder="Lakeside Dental"
        maxLength={200}
        data-autofocus
        {...form.field('name')}
      />
    </ApiForm>
  )
}
