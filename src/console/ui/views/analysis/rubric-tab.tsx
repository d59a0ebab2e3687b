import { Button, Group, Menu, SimpleGrid, Stack, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconChevronDown, IconChevronLeft, IconListCheck, IconTestPipe } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker, useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import type { Rubric } from '../../../../analysis/schemas.ts'
import { pathOf, unwrap } from '../../api.ts'
import { useFaultFocus } from '../../components/api-form.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { Loaded } from '../../components/page.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject, useRefusal } from '../../session.ts'
import classes from './analysis-page.module.css'
import { rubricQuery, statusQuery } from './analysis-queries.ts'
import { personOf } from './analysis-words.tsx'
import { draftOf, emptyDraft, type RubricDraft, rubricOf } from './rubric-draft.ts'
import { isShownByFields, RubricEditor, RubricText } from './rubric-editor.tsx'
import { rubricOfStarter, starters } from './starters.ts'
import { Trial } from './trial.tsx'

interface RubricTabProps {
  /** A version to look at; the one in force without one. */
  version: number | undefined
  hasModel: boolean
}

/** The rubric in force, to read or to edit, its older versions, and examples to start from. */
export function RubricTab({ version, hasModel }: RubricTabProps) {
  const { id: project } = useProject()
  const mayEdit = useRefusal('manage') === null
  const { draft, setDraft } = useDraft(project)
  const query = useQuery(rubricQuery(project, version))
  const show = useShownVersion()
  if (!query.data)
    return (
      <Loaded query={query} what="The rubric">
        {() => null}
      </Loaded>
    )
  const { rubric, versions } = query.data
  const newest = versions[0]?.version
  if (version !== undefined && version !== newest)
    return (
      <Stack gap="lg" maw={720}>
        <OldVersion
          rubric={rubric}
          version={version}
          onStart={
            mayEdit && rubric
              ? () => {
                  setDraft(draftOf(rubric))
                  show(undefined)
                }
              : null
          }
        />
      </Stack>
    )
  if (!rubric && !draft) return mayEdit ? <Starters onStart={setDraft} /> : <NoRubric />
  const stored = rubric ? draftOf(rubric) : emptyDraft
  return (
    <Stack gap="lg" maw={720}>
      {rubric && <Versions rubric={rubric} versions={versions} />}
      {mayEdit ? (
        <Editor
          rubric={rubric}
          draft={draft ?? stored}
          isChanged={draft !== null && !isSame(draft, rubric && stored)}
          hasModel={hasModel}
          onDraft={setDraft}
        />
      ) : (
        rubric && <RubricText rubric={rubric} />
      )}
    </Stack>
  )
}

/** The unsaved rubric of a project, kept while the console is open, whatever page is shown. */
function useDraft(project: string) {
  const queryClient = useQueryClient()
  const queryKey = ['rubric draft', project]
  // A state of its own, since the cache tells its readers later.
  const [draft, setShown] = useState(() => {
    queryClient.setQueryDefaults(queryKey, { gcTime: Number.POSITIVE_INFINITY })
    return queryClient.getQueryData<RubricDraft | null>(queryKey) ?? null
  })
  const setDraft = (next: RubricDraft | null) => {
    setShown(next)
    queryClient.setQueryData(queryKey, next)
  }
  return { draft, setDraft }
}

/** Whether two forms mean one rubric. */
function isSame(draft: RubricDraft, other: RubricDraft | null): boolean {
  return other !== null && JSON.stringify(rubricOf(draft)) === JSON.stringify(rubricOf(other))
}

/** Shows a version; without one, the one in force. */
function useShownVersion() {
  const navigate = useNavigate({ from: '/p/$project/settings/analysis' })
  return (version: number | undefined) =>
    void navigate({ to: '.', search: (search) => ({ ...search, version }) })
}

function Versions({
  rubric: { version, createdAt },
  versions,
}: {
  rubric: Rubric
  versions: { version: number; createdAt: string; createdBy: string | null }[]
}) {
  const show = useShownVersion()
  const by = versions[0]?.createdBy
  return (
    <Group justify="space-between" gap="xs" mih={28}>
      <VersionWords version={version}>
        in force since <Instant at={createdAt} as="moment" />
        {by && `, by ${personOf(by)}`}
      </VersionWords>
      {versions.length > 1 && (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" size="xs" rightSection={<IconChevronDown size={14} />}>
              Older versions
            </Button>
          </Menu.Target>
          <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
            {versions.slice(1).map((old) => (
              <Menu.Item key={old.version} onClick={() => show(old.version)}>
                Version {old.version}{' '}
                <span className="cb-dimmed">
                  <Instant at={old.createdAt} as="moment" />
                </span>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </Group>
  )
}

function VersionWords({ version, children }: { version: number; children: ReactNode }) {
  return (
    <p>
      <strong>Version {version}</strong> <span className="cb-dimmed">{children}</span>
    </p>
  )
}

interface OldVersionProps {
  rubric: Rubric | null
  version: number
  /** Null for people who may not edit. */
  onStart: (() => void) | null
}

function OldVersion({ rubric, version, onStart }: OldVersionProps) {
  const show = useShownVersion()
  return (
    <>
      <Group justify="space-between" gap="xs" mih={28}>
        <VersionWords version={version}>
          {rubric && 'of '}
          {rubric && <Instant at={rubric.createdAt} as="moment" />}
          {rubric ? ', no longer in force' : 'does not exist'}
        </VersionWords>
        <span className="cb-row">
          <TextButton
            icon={IconChevronLeft}
            label="Version in force"
            variant="default"
            size="xs"
            onClick={() => show(undefined)}
          />
          {onStart && <TextButton label="Start a new version from it" size="xs" onClick={onStart} />}
        </span>
      </Group>
      {rubric && <RubricText rubric={rubric} />}
    </>
  )
}

interface EditorProps {
  /** The version in force; null before the first. */
  rubric: Rubric | null
  draft: RubricDraft
  isChanged: boolean
  hasModel: boolean
  onDraft: (draft: RubricDraft | null) => void
}

function Editor({ rubric, draft, isChanged, hasModel, onDraft }: EditorProps) {
  const {
    id: project,
    of: { analysis },
  } = useProject()
  const queryClient = useQueryClient()
  const show = useShow()
  const tryOut = () =>
    show({
      title: 'Try on a call',
      size: 860,
      content: () => <Trial rubric={rubricOf(draft)} inForce={rubric} isChanged={isChanged} />,
    })
  // The draft outlives the page, but not the tab.
  useBlocker({ shouldBlockFn: () => false, enableBeforeUnload: isChanged })
  const save = useMutation({
    mutationFn: () => unwrap(analysis.rubric.put(rubricOf(draft))),
    onSuccess: async ({ version }) => {
      await queryClient.invalidateQueries({ queryKey: pathOf(analysis.rubric) })
      void queryClient.invalidateQueries({ queryKey: pathOf(analysis.agreement) })
      void queryClient.invalidateQueries(statusQuery(project))
      onDraft(null)
      notifications.show({
        title: `Version ${version} saved`,
        message: 'Calls that are completed from now on are analyzed by it.',
      })
    },
  })
  const { error } = save
  const form = useFaultFocus(error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isChanged && !save.isPending) save.mutate()
  }
  const next = (rubric?.version ?? 0) + 1
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack gap="lg">
        <RubricEditor
          draft={draft}
          onChange={(change) => onDraft({ ...draft, ...change })}
          error={error}
          onShift={save.reset}
        />
        <Group justify="space-between" gap="xs" py="sm" className={classes.bar}>
          {error && !isShownByFields(error) ? (
            <Problem error={error} title="The rubric was not saved" />
          ) : (
            <span role="status" className="cb-dimmed">
              {error ? 'Check the fields that are marked.' : isChanged ? 'Unsaved changes' : 'No changes'}
            </span>
          )}
          <span className="cb-row">
            <Button
              variant="subtle"
              color="gray"
              disabled={!isChanged}
              onClick={() => {
                save.reset()
                onDraft(null)
              }}
            >
              Discard
            </Button>
            <TextButton
              icon={IconTestPipe}
              label="Try on a call"
              variant="default"
              disabled={!hasModel}
              onClick={tryOut}
            />
            <Button type="submit" disabled={!isChanged} loading={save.isPending}>
              Save version {next}
            </Button>
          </span>
        </Group>
      </Stack>
    </form>
  )
}

function Starters({ onStart }: { onStart: (draft: RubricDraft) => void }) {
  return (
    <section aria-label="Start">
      <Empty icon={<IconListCheck size={24} stroke={1.6} />} title="What should every call be asked?">
        A rubric holds your questions. A model answers them about each completed call, and shows the words of
        the call that its answer rests on. Start from an example and change what you like: nothing is sent
        before you save.
      </Empty>
      <SimpleGrid
        component="ul"
        cols={{ base: 1, xs: 3 }}
        spacing="sm"
        maw={960}
        mx="auto"
        className={classes.starters}
      >
        {starters.map((starter) => (
          <li key={starter.name}>
            <UnstyledButton
              w="100%"
              className="cb-box"
              onClick={() => onStart(draftOf(rubricOfStarter(starter), false))}
            >
              <strong>{starter.name}</strong>
              <span className="cb-dimmed">{starter.about}</span>
              <ul>
                {Object.keys(starter.criteria).map((name) => (
                  <li key={name}>{name}</li>
                ))}
              </ul>
            </UnstyledButton>
          </li>
        ))}
      </SimpleGrid>
      <Group justify="center" mt="md">
        <TextButton label="Start from scratch" variant="default" onClick={() => onStart(emptyDraft)} />
      </Group>
    </section>
  )
}

function NoRubric() {
  return (
    <Empty icon={<IconListCheck size={24} stroke={1.6} />} title="No rubric yet">
      A rubric holds the questions that a model answers about each completed call. Only an owner of the
      project can write one.
    </Empty>
  )
}
