import { Anchor, Button, Group, Skeleton, Stack } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type PlatformName, setUpOf } from '../../../../sources/catalog.ts'
import type { SourceRecord } from '../../../../sources/sources.ts'
import { api, unwrap } from '../../api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { counted } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import classes from './settings.module.css'
import { SourceFailures } from './source-failures.tsx'
import { addressOf, sentBy, sourceQuery, sourcesQuery } from './source-queries.ts'
import { SourceRecordings } from './source-recordings.tsx'
import { SourceSecret } from './source-secret.tsx'
import { SourceState } from './source-state.tsx'
import { answersLookUps, sourceSteps, sourceTemplates } from './source-steps.ts'

const route = getRouteApi('/p/$project/settings/integrations/sources/$source')

/** One source: how to set up its platform, what has come from it, and what could not be read. */
export function SourceView() {
  const { project, source: id } = route.useParams()
  const { data, error, refetch } = useQuery(sourceQuery(project, id))
  const [isDeleting, setDeleting] = useState(false)
  if (error && !data)
    return <Problem error={error} title="The source could not be loaded" onRetry={() => void refetch()} />
  return (
    <>
      <PageHeader
        title={data?.name ?? 'Source'}
        description={
          <PageLink to="/p/$project/settings/integrations" params={{ project }}>
            All integrations
          </PageLink>
        }
        action={
          <Button
            variant="default"
            leftSection={<IconTrash size={16} />}
            onClick={() => setDeleting(true)}
            disabled={!data}
          >
            Delete
          </Button>
        }
      />
      {data ? <Connected source={data} project={project} /> : <Skeleton height={240} />}
      {data && (
        <DeleteDialog
          source={data}
          project={project}
          opened={isDeleting}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  )
}

function Connected({ source, project }: { source: SourceRecord; project: string }) {
  const { platform } = source
  const template = sourceTemplates[platform]
  return (
    <Stack gap="lg" maw={720}>
      <Panel title="Events" aside={<SourceState source={source} />}>
        <Arrived source={source} project={project} />
      </Panel>
      <SourceFailures source={source} project={project} />
      <Panel title={`Set up ${setUpOf(platform).label}`}>
        <div className="cb-stack">
          <div>
            <p className={classes.label}>{setUpOf(platform).variable ? 'Variable' : 'Address'}</p>
            <CodeBlock code={addressOf(source)} label="Copy" />
          </div>
          <SourceSecret source={source} project={project} />
          <ol className={classes.sourceSteps}>
            {sourceSteps[platform].map((step) => (
              <li key={step}>{step}</li>
            ))}
          </ol>
          {template !== undefined && <CodeBlock code={template} label="Copy template" />}
          <Anchor href={`/docs/guide/sources#${platform}`}>{setUpOf(platform).label} in the guide</Anchor>
        </div>
      </Panel>
      {setUpOf(platform).apiKeyName !== undefined && <SourceRecordings source={source} project={project} />}
      <LookUps platform={platform} project={project} />
    </Stack>
  )
}

/** How the agents of the platform search the knowledge during a call. */
function LookUps({ platform, project }: { platform: PlatformName; project: string }) {
  const { label } = setUpOf(platform)
  if (answersLookUps.includes(platform)) {
    return (
      <Panel title="Knowledge during a call">
        <p className="cb-dimmed">
          {label} can search at the same address. A tool with the parameter query gets passages from this
          project’s knowledge.
        </p>
      </Panel>
    )
  }
  return (
    <Panel title="Knowledge during a call">
      <div className="cb-stack">
        <p className="cb-dimmed">
          Give your {label} agents a tool that gets passages from this project’s knowledge.
        </p>
        <PageLink
          to="/p/$project/settings/integrations/$integration"
          params={{ project, integration: 'tools' }}
        >
          Set up the tool
        </PageLink>
      </div>
    </Panel>
  )
}

function Arrived({ source, project }: { source: SourceRecord; project: string }) {
  const { platform, events, lastEventAt, hasSecret } = source
  const [{ label }, sent] = [setUpOf(platform), sentBy(platform)]
  if (!lastEventAt) {
    return (
      <p className="cb-dimmed" role="status">
        {hasSecret
          ? `No ${sent} from ${label} yet. Make a test call. The first ${sent} appears here automatically.`
          : `Save the secret from ${label} first. Until then, the source refuses every ${sent}.`}
      </p>
    )
  }
  return (
    <Group justify="space-between" role="status">
      <span>{counted(events, 'event')}</span>
      <PageLink to="/p/$project/calls" params={{ project }} search={{ source: platform }}>
        Calls from {label}
      </PageLink>
    </Group>
  )
}

interface DeleteDialogProps {
  source: SourceRecord
  project: string
  opened: boolean
  onClose: () => void
}

function DeleteDialog({ source: { id, name, platform }, project, opened, onClose }: DeleteDialogProps) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await unwrap(api.projects({ project }).sources({ id }).delete())
    notifications.show({ message: `${name} deleted.` })
    await navigate({ to: '/p/$project/settings/integrations', params: { project } })
    queryClient.removeQueries({ queryKey: sourceQuery(project, id).queryKey })
    await queryClient.invalidateQueries(sourcesQuery(project))
  }
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={`Delete ${name}?`}
      confirmLabel="Delete source"
      onConfirm={remove}
    >
      <p>
        Callbook will refuse what {setUpOf(platform).label} sends to this source. The source, its secret and
        its failed events are deleted for good. Its calls stay.
      </p>
    </ConfirmDialog>
  )
}
