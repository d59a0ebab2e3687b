import { TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { unwrap } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import type { PopupProps } from '../../components/popup.tsx'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { FormPopover, SaveForm } from '../calls/save-form.tsx'
import { viewsQuery } from '../calls/view-queries.ts'
import type { ChartSearch } from './chart-search.ts'

/** Names a chart and puts it on the overview. */
export function SaveChart({
  search,
  proposed,
  ...popup
}: PopupProps & { search: ChartSearch; proposed: string }) {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const save = async (name: string, isShared: boolean) => {
    await unwrap(of.views.post({ name, isShared, page: 'chart', query: stringifySearch(search) }))
    await queryClient.invalidateQueries({ queryKey: viewsQuery(project, 'chart').queryKey })
    popup.onChange(false)
    notifications.show({ message: `“${name}” is on the overview` })
  }
  return (
    <FormPopover {...popup} label="Save chart" position="bottom-end">
      <SaveForm
        key={proposed}
        label="Put it on the overview as"
        proposed={proposed}
        button="Save chart"
        onSave={save}
      />
    </FormPopover>
  )
}

/** Gives a saved chart another name. */
export function RenameChart({ id, name, ...popup }: PopupProps & { id: string; name: string }) {
  return (
    <FormPopover {...popup} label="Rename chart" position="bottom-end">
      {/* Begins with the name that the chart has now. */}
      <RenameForm key={name} id={id} name={name} onDone={() => popup.onChange(false)} />
    </FormPopover>
  )
}

function RenameForm({ id, name, onDone }: { id: string; name: string; onDone: () => void }) {
  const { id: project, of } = useProject()
  const form = useApiForm({
    first: { name },
    needs: ['name'],
    isEdit: true,
    send: (values) => of.views({ id }).patch(values),
    changes: { queryKey: viewsQuery(project, 'chart').queryKey },
    done: onDone,
  })
  return (
    <ApiForm form={form} label="Rename">
      <TextInput label="Name" maxLength={100} data-autofocus {...form.field('name')} />
    </ApiForm>
  )
}
