import { Group, Select, Stack, TextInput } from '@mantine/core'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CopyButton, Mono } from '../../components/code.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { Facts, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { sessionQuery, useProject, useRefusal } from '../../session.ts'

/** The project's name, its id, its time zone and its deletion. */
export function GeneralView() {
  const { id, createdAt } = useProject()
  const isOwner = useRefusal('manage') === null
  return (
    <Page title="General">
      <Stack gap="lg" maw={720}>
        {isOwner && <Rename />}
        <Panel title="Project">
          <Facts
            of={{
              ID: (
                <Group gap={4} wrap="nowrap">
                  <Mono truncate>{id}</Mono>
                  <CopyButton value={id} label="Copy project id" />
                </Group>
              ),
              Created: <Instant at={createdAt} as="absolute" />,
            }}
          />
        </Panel>
        {isOwner && <TimeZone />}
        {isOwner && <Deletion />}
      </Stack>
    </Page>
  )
}

function Rename() {
  const { of, name: current } = useProject()
  const form = useApiForm({
    first: { name: current },
    needs: ['name'],
    isEdit: true,
    body: ({ name }) => ({ name: name.trim() }),
    send: (body) => of.patch(body),
    changes: sessionQuery,
    says: ({ name }) => `The project is now called ${name}.`,
  })
  return (
    <Panel title="Name">
      <ApiForm form={form} label="Save">
        <TextInput aria-label="Project name" maxLength={200} {...form.field('name')} />
      </ApiForm>
    </Panel>
  )
}

/** Sets the time zone in which the project's pages show days and times. */
function TimeZone() {
  const { of, timeZone } = useProject()
  const form = useApiForm({
    first: { timeZone },
    isEdit: true,
    send: (body) => of.settings.put(body),
    changes: [of.settings, sessionQuery],
    says: 'The time zone has been changed.',
  })
  const known = [...new Set([...(timeZone ? [timeZone] : []), 'UTC', ...Intl.supportedValuesOf('timeZone')])]
  return (
    <Panel title="Time zone">
      <ApiForm form={form} label="Save">
        <Select
          label="Time zone of the project"
          description="Everyone sees this project’s days and times in this zone. Without one, each person sees their own."
          placeholder="Each person’s own"
          searchable
          clearable
          limit={50}
          nothingFoundMessage="No time zone has this in its name"
          data={known}
          {...form.field('timeZone')}
        />
      </ApiForm>
    </Panel>
  )
}

function Deletion() {
  const { of, name } = useProject()
  const ask = useConfirm()
  const remove = () =>
    ask({
      title: `Delete ${name}?`,
      word: name,
      verb: 'Delete project',
      text: 'This deletes every call and knowledge item in the project for good. Its keys stop working at once, and everyone loses access. This cannot be undone.',
      send: () => of.delete({ confirm: name }),
      // Reloads the page, so that nothing of this project stays in memory.
      done: () => location.assign('/console'),
    })
  return (
    <Panel title="Delete project">
      <Group justify="space-between" gap="md">
        <p className="cb-dimmed" style={{ flex: '1 1 280px' }}>
          Permanently deletes all of its calls, knowledge and keys. Only a backup can bring them back.
        </p>
        <TextButton label="Delete project" color="red" variant="outline" onClick={remove} />
      </Group>
    </Panel>
  )
}
