import { Button, Grid, Group, Stack, Text } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { IconFile } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { ApiProblem } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { PageButton } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { Warning } from '../../components/warning.tsx'
import { knowledgeKeys } from '../../query-keys.ts'
import { useRefusal } from '../../session.ts'
import { failureOf, readableFiles, readDocument, storeDocument, type TwinAnswer } from './documents.ts'
import { type Drafts, useDrafts } from './drafts.ts'
import { focusFault, ItemFields, type ItemValues, validItem } from './item-fields.tsx'
import { textFor } from './item-search.ts'
import { PreviewPanel } from './preview-panel.tsx'
import { TwinChoice } from './twin-choice.tsx'

const route = getRouteApi('/p/$project/new-item')

/** The draft's name among those of items: no item has this id. */
const newItem = 'new item'
const empty: ItemValues = { name: '', description: '', text: '' }

/** An editor for a new item, with a preview of its chunks. What is typed is kept in this browser until it is saved. */
export function NewItemView() {
  const refusal = useRefusal('change')
  if (refusal === null) return <NewItem />
  return (
    <>
      <PageHeader title="New item" />
      <Empty title="Only members and owners can add items">{refusal}</Empty>
    </>
  )
}

function NewItem() {
  const { project } = route.useParams()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { question } = route.useSearch()
  const drafts = useDrafts(project)
  // An item for a question has a draft of its own, so that neither takes the place of the other.
  const name = question === undefined ? newItem : `${newItem} ${question}`
  const begun: ItemValues = { ...empty, text: question === undefined ? '' : textFor(question) }
  const form = useForm<ItemValues>({
    initialValues: draftOf(drafts, name) ?? begun,
    validate: validItem,
    onValuesChange: (values) => drafts.keep(name, { ...values, changeSeq: 0 }),
  })
  const isEmpty = form.values.name + form.values.description === '' && form.values.text === begun.text
  const [twin, setTwin] = useState<{ item: Twin; text: string } | null>(null)
  const save = useMutation({
    mutationFn: (answer: TwinAnswer) => storeDocument(project, form.values, answer),
    onSuccess: async (stored) => {
      if ('twin' in stored) {
        setTwin({ item: stored.twin, text: form.values.text })
        return
      }
      drafts.drop(name)
      await queryClient.invalidateQueries({ queryKey: knowledgeKeys.all(project) })
      notifications.show({ message: `Saved “${stored.name}”` })
      await navigate({
        to: '/p/$project/knowledge/$item',
        params: { project, item: stored.id },
        // Going back leads to the list, not to a form of what is saved already.
        replace: true,
      })
    },
    onError: (error) => {
      if (error instanceof ApiProblem && error.fields.length > 0) {
        form.setErrors(fieldErrors(error))
      }
    },
  })
  const openDocument = async ([file]: File[]) => {
    if (!file) return
    try {
      const { name, description = '', text } = await readDocument(project, file)
      const { values } = form
      form.setValues({
        text,
        name: values.name.trim() === '' ? name : values.name,
        description: values.description.trim() === '' ? description : values.description,
      })
    } catch (error) {
      notifications.show({ color: 'red', title: file.name, message: failureOf(error) })
    }
  }

  return (
    <form
      onSubmit={form.onSubmit(
        () => save.mutate('ask'),
        (faults) => focusFault(form, faults),
      )}
      noValidate
    >
      <Stack gap="md">
        <PageHeader
          title="New item"
          action={
            <Group gap="xs">
              <PageButton
                variant="default"
                to="/p/$project/knowledge"
                params={{ project }}
                onClick={() => drafts.drop(name)}
              >
                {isEmpty ? 'Cancel' : 'Discard'}
              </PageButton>
              <Button type="submit" loading={save.isPending}>
                Save
              </Button>
            </Group>
          }
        />
        <Dropzone.FullScreen
          active
          onDrop={openDocument}
          multiple={false}
          withinPortal={false}
          // Hidden until a file is dragged over the page.
          activateOnKeyboard={false}
        >
          <Stack align="center" justify="center" h="60vh" gap="xs" style={{ pointerEvents: 'none' }}>
            <IconFile size={40} stroke={1.5} />
            <Text size="lg" fw={600}>
              Drop a {readableFiles} file to edit its text here
            </Text>
          </Stack>
        </Dropzone.FullScreen>
        {save.error && !(save.error instanceof ApiProblem && save.error.fields.length > 0) && (
          <Problem error={save.error} />
        )}
        {twin?.text === form.values.text && (
          <Warning>
            <TwinChoice
              project={project}
              twin={twin.item}
              name={form.values.name}
              isPending={save.isPending}
              onReplace={() => save.mutate(twin.item)}
              onKeep={() => save.mutate('keep')}
            />
          </Warning>
        )}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <ItemFields form={form} isNew />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <PreviewPanel project={project} text={form.values.text} />
          </Grid.Col>
        </Grid>
      </Stack>
    </form>
  )
}

function draftOf(drafts: Drafts, draft: string): ItemValues | null {
  const kept = drafts.read(draft)
  return kept && { name: kept.name, description: kept.description, text: kept.text }
}
