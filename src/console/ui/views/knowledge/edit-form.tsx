import { Button, Grid, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ItemDetails } from '../../../../knowledge/indexed-items.ts'
import { ApiProblem } from '../../api.ts'
import { fieldErrors } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { Warning } from '../../components/warning.tsx'
import { knowledgeKeys } from '../../query-keys.ts'
import { storeDocument } from './documents.ts'
import { type Draft, useDrafts } from './drafts.ts'
import { focusFault, ItemFields, type ItemValues, validItem } from './item-fields.tsx'
import { PreviewPanel } from './preview-panel.tsx'

interface EditFormProps {
  project: string
  item: ItemDetails
  onSaved: () => void
}

/** Edits an item, with a preview of what will change. What is typed is kept in this browser until it is saved. */
export function EditForm({ project, item, onSaved }: EditFormProps) {
  const { id } = item
  const queryClient = useQueryClient()
  const drafts = useDrafts(project)
  const [kept] = useState(() => drafts.read(id))
  const [changeSeq, setChangeSeq] = useState(kept?.changeSeq ?? item.changeSeq)
  const [isDraft, setDraft] = useState(kept !== null)
  const form = useForm<ItemValues>({
    initialValues: valuesOf(kept ?? item),
    validate: validItem,
    onValuesChange: (values) => keep({ ...values, changeSeq }),
  })
  const keep = (draft: Draft) => {
    setDraft(true)
    drafts.keep(id, draft)
  }
  const discard = () => {
    form.setValues(valuesOf(item))
    form.clearErrors()
    save.reset()
    setChangeSeq(item.changeSeq)
    setDraft(false)
    drafts.drop(id)
  }
  const saveOver = () => {
    setChangeSeq(item.changeSeq)
    keep({ ...form.values, changeSeq: item.changeSeq })
  }
  const save = useMutation({
    mutationFn: (values: ItemValues) => storeDocument(project, values, { id, changeSeq }),
    onSuccess: async () => {
      drafts.drop(id)
      await queryClient.invalidateQueries({ queryKey: knowledgeKeys.all(project) })
      notifications.show({ message: `Saved “${form.values.name}”` })
      onSaved()
    },
    onError: async (error) => {
      if (!(error instanceof ApiProblem)) return
      form.setErrors(fieldErrors(error))
      if (error.code === 'item_has_changed')
        await queryClient.invalidateQueries({ queryKey: knowledgeKeys.item(project, id) })
    },
  })
  const isOutdated = item.changeSeq !== changeSeq

  return (
    <form
      onSubmit={form.onSubmit(
        (values) => save.mutate(values),
        (faults) => focusFault(form, faults),
      )}
      noValidate
    >
      <Stack gap="md">
        <Group gap="xs" justify="flex-end">
          <Button variant="default" onClick={discard} disabled={!isDraft}>
            Discard changes
          </Button>
          <Button type="submit" loading={save.isPending} disabled={!isDraft || isOutdated}>
            Save
          </Button>
        </Group>
        {isOutdated && (
          <Warning>
            <strong>This item has changed since you started editing.</strong> Your changes are kept here.
            Discard them to see the current version, or{' '}
            <Button variant="subtle" size="compact-sm" onClick={saveOver}>
              replace it with your version
            </Button>
          </Warning>
        )}
        {save.error && !isOutdated && !(save.error instanceof ApiProblem && save.error.fields.length > 0) && (
          <Problem error={save.error} />
        )}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <ItemFields form={form} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <PreviewPanel
              project={project}
              text={form.values.text}
              edited={{ id, name: form.values.name, changeSeq: item.changeSeq }}
            />
          </Grid.Col>
        </Grid>
      </Stack>
    </form>
  )
}

function valuesOf({ name, description, text }: ItemValues): ItemValues {
  return { name, description, text }
}
