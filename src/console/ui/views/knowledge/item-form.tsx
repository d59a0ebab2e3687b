import { Button, Grid, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { Dropzone } from '@mantine/dropzone'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { IconFile } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import type { ItemDetails } from '../../../../knowledge/indexed-items.ts'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { ApiProblem, pathOf } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { asBytes } from '../../components/figures.ts'
import { PageButton } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useFocus } from '../../components/use-focus.ts'
import { Warning } from '../../components/warning.tsx'
import { useProject, useRefusal } from '../../session.ts'
import { failureOf, readableFiles, readDocument, storeDocument, type TwinAnswer } from './documents.ts'
import { type Draft, type ItemValues, useDrafts } from './drafts.ts'
import { PreviewPanel } from './preview-panel.tsx'
import type { Edited } from './queries.ts'
import { DropHint, TwinChoice } from './uploads.tsx'

const route = getRouteApi('/p/$project/new-item')

/** The draft's name among those of items: no item has this id. */
const newItem = 'new item'
const nameCharsMax = 400

const validate = {
  name: (name: string) => (name.trim() === '' ? 'Enter a name' : null),
  text: (text: string) => (text.trim() === '' ? 'Enter text or drop a file' : null),
}

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
  const { id: project, of } = useProject()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const { question, gap } = route.useSearch()
  const drafts = useDrafts(project)
  // An item for a question has a draft of its own, so that neither takes the place of the other.
  const draft = question === undefined ? newItem : `${newItem} ${question}`
  const begun: ItemValues = { name: nameFor(question), description: '', text: '' }
  const form = useForm<ItemValues>({
    initialValues: valuesOf(drafts.read(draft) ?? begun),
    validate,
    onValuesChange: (values) => drafts.keep(draft, { ...values, changeSeq: 0 }),
  })
  const [twin, setTwin] = useState<{ item: Twin; text: string } | null>(null)
  const back = gap
    ? ({ to: '/p/$project/questions', params: { project }, search: { question: gap } } as const)
    : ({ to: '/p/$project/knowledge', params: { project } } as const)
  const save = useMutation({
    mutationFn: (answer: TwinAnswer) => storeDocument(project, form.values, answer),
    onSuccess: async (stored) => {
      if ('twin' in stored) return setTwin({ item: stored.twin, text: form.values.text })
      drafts.drop(draft)
      await queryClient.invalidateQueries({ queryKey: pathOf(of.knowledge) })
      notifications.show({ message: `Saved “${stored.name}”` })
      // Going back does not lead to a form of what is saved already.
      if (gap) await navigate({ ...back, search: { question: gap, written: stored.id }, replace: true })
      else await navigate({ ...to.item(stored.id), replace: true })
    },
    onError: (error) => form.setErrors(fieldErrors(error)),
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
  const isEmpty = JSON.stringify(form.values) === JSON.stringify(begun)
  return (
    <ItemForm
      form={form}
      error={save.error}
      firstField={question === undefined ? 'name' : 'text'}
      onSubmit={() => save.mutate('ask')}
    >
      <PageHeader
        title="New item"
        action={
          <Group gap="xs">
            <PageButton variant="default" {...back} onClick={() => drafts.drop(draft)}>
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
        <DropHint icon={IconFile} title={`Drop a ${readableFiles} file to edit its text here`} />
      </Dropzone.FullScreen>
      {twin?.text === form.values.text && (
        <Warning>
          <TwinChoice
            twin={twin.item}
            name={form.values.name}
            isPending={save.isPending}
            onReplace={() => save.mutate(twin.item)}
            onKeep={() => save.mutate('keep')}
          />
        </Warning>
      )}
    </ItemForm>
  )
}

interface EditFormProps {
  item: ItemDetails
  onSaved: () => void
}

/** Edits an item, with a preview of what will change. What is typed is kept in this browser until it is saved. */
export function EditForm({ item, onSaved }: EditFormProps) {
  const { id } = item
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const drafts = useDrafts(project)
  const [draft] = useState(() => drafts.read(id))
  const [changeSeq, setChangeSeq] = useState(draft?.changeSeq ?? item.changeSeq)
  const [isDraft, setDraft] = useState(draft !== null)
  const form = useForm<ItemValues>({
    initialValues: valuesOf(draft ?? item),
    validate,
    onValuesChange: (values) => keep({ ...values, changeSeq }),
  })
  const keep = (next: Draft) => {
    setDraft(true)
    drafts.keep(id, next)
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
    mutationFn: () => storeDocument(project, form.values, { id, changeSeq }),
    onSuccess: async () => {
      drafts.drop(id)
      await queryClient.invalidateQueries({ queryKey: pathOf(of.knowledge) })
      notifications.show({ message: `Saved “${form.values.name}”` })
      onSaved()
    },
    onError: async (error) => {
      form.setErrors(fieldErrors(error))
      if (error instanceof ApiProblem && error.code === 'item_has_changed')
        await queryClient.invalidateQueries({ queryKey: pathOf(of.knowledge({ id })) })
    },
  })
  const isOutdated = item.changeSeq !== changeSeq
  return (
    <ItemForm
      form={form}
      error={isOutdated ? null : save.error}
      edited={{ id, name: form.values.name, changeSeq: item.changeSeq }}
      onSubmit={() => save.mutate()}
    >
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
    </ItemForm>
  )
}

interface ItemFormProps {
  form: UseFormReturnType<ItemValues>
  /** Why it was not saved. */
  error: unknown
  /** The field that takes the focus. */
  firstField?: 'name' | 'text'
  edited?: Edited
  onSubmit: () => void
  /** Above the fields. */
  children: ReactNode
}

/** The fields of an item beside its preview. Ctrl+Enter in the text submits them. */
function ItemForm({ form, error, firstField, edited, onSubmit, children }: ItemFormProps) {
  const { id: project } = useProject()
  const name = useFocus<HTMLInputElement>(firstField === 'name')
  const text = useFocus<HTMLTextAreaElement>(firstField === 'text')
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit()
  }
  const isAboutFields = error instanceof ApiProblem && error.fields.length > 0
  return (
    <form
      onSubmit={form.onSubmit(onSubmit, (faults) => form.getInputNode(Object.keys(faults)[0] ?? '')?.focus())}
      noValidate
    >
      <Stack gap="md">
        {children}
        {Boolean(error) && !isAboutFields && <Problem error={error} />}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <Stack gap="sm">
              <TextInput
                ref={name}
                label="Name"
                required
                maxLength={nameCharsMax}
                {...form.getInputProps('name')}
              />
              <TextInput
                label="Description"
                description="For people. Agents do not see it."
                {...form.getInputProps('description')}
              />
              <Textarea
                ref={text}
                label="Text"
                required
                description="Markdown. Headings tell agents what each passage is about."
                autosize
                minRows={18}
                maxRows={40}
                styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
                onKeyDown={onKeyDown}
                placeholder={'## Refunds\n\nWe refund any order within 30 days.'}
                {...form.getInputProps('text')}
              />
              <Text size="xs" c="dimmed" className="cb-figure">
                {asBytes(new Blob([form.values.text]).size)}
              </Text>
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <PreviewPanel project={project} text={form.values.text} {...(edited && { edited })} />
          </Grid.Col>
        </Grid>
      </Stack>
    </form>
  )
}

/** A question is the name of its item, which searches count. */
function nameFor(question = ''): string {
  return question.replace(/\s+/g, ' ').trim().slice(0, nameCharsMax)
}

function valuesOf({ name, description, text }: ItemValues): ItemValues {
  return { name, description, text }
}
