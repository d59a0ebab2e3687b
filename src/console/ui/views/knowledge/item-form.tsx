import { Button, Grid, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconFile } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import {
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useState,
} from 'react'
import type { ItemDetails } from '../../../../knowledge/indexed-items.ts'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { type Answered, ApiProblem, pathOf } from '../../api.ts'
import { useApiForm, useFaultFocus } from '../../components/api-form.tsx'
import { Empty } from '../../components/empty.tsx'
import { asBytes } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { PageButton } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Problem, Warning } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useFocus } from '../../components/use-focus.ts'
import { useProject, useRefusal } from '../../session.ts'
import { type Draft, type ItemValues, useDrafts } from './drafts.ts'
import { PreviewPanel } from './preview-panel.tsx'
import {
  type Edited,
  failureOf,
  readableFiles,
  readDocument,
  storeDocument,
  type TwinAnswer,
} from './queries.ts'
import { TagsField } from './tags-field.tsx'
import { DropArea, TwinChoice } from './uploads.tsx'

const route = getRouteApi('/p/$project/new-item')

/** The draft's name among those of items: no item has this id. */
const newItem = 'new item'
const nameCharsMax = 400

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
  const { question, gap } = route.useSearch()
  const drafts = useDrafts()
  // An item for a question has a draft of its own, so that neither takes the place of the other.
  const name = question === undefined ? newItem : `${newItem} ${question}`
  const [draft] = useState(() => drafts.read(name))
  const [twin, setTwin] = useState<{ item: Twin; text: string } | null>(null)
  const back = gap ? { ...to.questions, search: { question: gap } } : to.knowledge
  const form = useApiForm({
    first: ask({ name: nameFor(question), description: '', text: '', tags: [] }),
    draft: draft ? ask(draft) : undefined,
    isEdit: true,
    send: ({ answer, ...document }) => answered(storeDocument(project, document, answer)),
    changes: of.knowledge,
    done: async (stored, { text }) => {
      if ('twin' in stored) return setTwin({ item: stored.twin, text })
      drafts.drop(name)
      notifications.show({ message: `Saved “${stored.name}”` })
      // Going back does not lead to a form of what is saved already.
      if (gap) await navigate({ ...back, search: { question: gap, written: stored.id }, replace: true })
      else await navigate({ ...to.item(stored.id), replace: true })
    },
  })
  const { values, state } = form
  useSavedDraft(name, { ...valuesOf(values), changeSeq: 0 }, state.isReady)
  const openDocument = async ([file]: File[]) => {
    if (!file) return
    try {
      const { name, description = '', text, tags = [] } = await readDocument(project, file)
      form.set({
        text,
        tags: [...new Set([...values.tags, ...tags])],
        name: values.name.trim() === '' ? name : values.name,
        description: values.description.trim() === '' ? description : values.description,
      })
    } catch (error) {
      notifications.show({ color: 'red', title: file.name, message: failureOf(error) })
    }
  }
  return (
    <ItemForm form={form} error={state.error} firstField={question === undefined ? 'name' : 'text'}>
      <PageHeader
        title="New item"
        action={
          <Group gap="xs">
            <PageButton variant="default" {...back} onClick={() => drafts.drop(name)}>
              {state.isReady ? 'Discard' : 'Cancel'}
            </PageButton>
            <TextButton label="Save" type="submit" loading={state.isPending} disabled={!state.isReady} />
          </Group>
        }
      />
      <DropArea
        onDrop={openDocument}
        icon={IconFile}
        title={`Drop a ${readableFiles} file to edit its text here`}
      />
      {twin?.text === values.text && (
        <Warning>
          <TwinChoice
            twin={twin.item}
            name={values.name}
            isPending={state.isPending}
            onReplace={() => state.submit({ answer: twin.item })}
            onKeep={() => state.submit({ answer: 'keep' })}
          />
        </Warning>
      )}
    </ItemForm>
  )
}

/** What is stored of a document, unless an item has its text. */
function ask(values: ItemValues): ItemValues & { answer: TwinAnswer } {
  return { ...valuesOf(values), answer: 'ask' }
}

/** Edits an item, with a preview of what will change. What is typed is kept in this browser until it is saved. */
export function EditForm({ item, onSaved }: { item: ItemDetails; onSaved: () => void }) {
  const { id } = item
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const drafts = useDrafts()
  const [draft] = useState(() => drafts.read(id))
  const [changeSeq, setChangeSeq] = useState(draft?.changeSeq ?? item.changeSeq)
  const form = useApiForm({
    first: valuesOf(item),
    draft: draft ? valuesOf(draft) : undefined,
    isEdit: true,
    send: (document) => answered(storeDocument(project, document, { id, changeSeq })),
    changes: of.knowledge,
    done: (_, { name }) => {
      drafts.drop(id)
      notifications.show({ message: `Saved “${name}”` })
      onSaved()
    },
  })
  const { values, state } = form
  useSavedDraft(id, { ...values, changeSeq }, state.isReady)
  const hasChanged = state.error instanceof ApiProblem && state.error.code === 'item_has_changed'
  const readAgain = useEffectEvent(() =>
    queryClient.invalidateQueries({ queryKey: pathOf(of.knowledge({ id })) }),
  )
  useEffect(() => {
    if (hasChanged) void readAgain()
  }, [hasChanged])
  const isOutdated = item.changeSeq !== changeSeq
  return (
    <ItemForm
      form={form}
      error={hasChanged ? null : state.error}
      edited={{ id, name: values.name, changeSeq: item.changeSeq }}
    >
      <Group gap="xs" justify="flex-end">
        <Button
          variant="default"
          disabled={!state.isReady}
          onClick={() => {
            form.reset()
            setChangeSeq(item.changeSeq)
          }}
        >
          Discard changes
        </Button>
        <Button type="submit" loading={state.isPending} disabled={!state.isReady || isOutdated}>
          Save
        </Button>
      </Group>
      {isOutdated && (
        <Warning>
          <strong>This item has changed since you started editing.</strong> Your changes are kept here.
          Discard them to see the current version, or{' '}
          <Button variant="subtle" size="compact-sm" onClick={() => setChangeSeq(item.changeSeq)}>
            replace it with your version
          </Button>
        </Warning>
      )}
    </ItemForm>
  )
}

/** Saves a draft as long as it says something else than what is stored. */
function useSavedDraft(name: string, draft: Draft, isChanged: boolean): void {
  const drafts = useDrafts()
  const json = JSON.stringify(draft)
  useEffect(() => {
    if (isChanged) drafts.save(name, json)
    else drafts.drop(name)
  }, [drafts, name, json, isChanged])
}

interface ItemFormProps {
  form: Pick<ReturnType<typeof useApiForm<ItemValues, unknown>>, 'field' | 'state' | 'values'>
  /** Why it was not saved. */
  error: unknown
  /** The field that takes the focus. */
  firstField?: 'name' | 'text'
  edited?: Edited
  /** Above the fields. */
  children: ReactNode
}

/** The fields of an item beside its preview. Ctrl+Enter in the text submits them. */
function ItemForm({ form, error, firstField, edited, children }: ItemFormProps) {
  const { id: project } = useProject()
  const { state, values } = form
  const element = useFaultFocus(error)
  const name = useFocus<HTMLInputElement>(firstField === 'name')
  const text = useFocus<HTMLTextAreaElement>(firstField === 'text')
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (state.isReady && !state.isPending) state.submit()
  }
  const fields = {
    name: form.field('name'),
    description: form.field('description'),
    text: form.field('text'),
    tags: form.field('tags'),
  }
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack gap="md">
        {children}
        {Boolean(error) && !state.isSaid() && <Problem error={error} />}
        <Grid gap="lg">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <Stack gap="sm">
              <TextInput ref={name} label="Name" required maxLength={nameCharsMax} {...fields.name} />
              <TextInput
                label="Description"
                description="For people. Agents do not see it."
                {...fields.description}
              />
              <TagsField description="Agents can be limited to items with certain tags." {...fields.tags} />
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
                {...fields.text}
              />
              <Text size="xs" c="dimmed" className="cb-figure">
                {asBytes(new Blob([values.text]).size)}
              </Text>
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <PreviewPanel project={project} text={values.text} {...(edited && { edited })} />
          </Grid.Col>
        </Grid>
      </Stack>
    </form>
  )
}

/** What a form sends, whose errors say themselves how large a text may be. */
async function answered<Answer>(stored: Promise<Answer>): Promise<Answered<Answer>> {
  return { data: await stored, error: null }
}

/** A question is the name of its item, which searches count. */
function nameFor(question = ''): string {
  return question.replace(/\s+/g, ' ').trim().slice(0, nameCharsMax)
}

function valuesOf({ name, description, text, tags }: ItemValues): ItemValues {
  return { name, description, text, tags }
}
