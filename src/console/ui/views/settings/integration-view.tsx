import { Anchor, Button, Group, Skeleton, Stack } from '@mantine/core'
import { IconClock, IconPlus } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { CodeBlock } from '../../components/code-block.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Labelled, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { NotFound } from '../../shell/page-problem.tsx'
import { totalLabel } from '../calls/pages.ts'
import { type Integration, integrations, type Lines } from './integrations.ts'
import { useNewKey } from './new-key.tsx'
import { useLastCall } from './sources.ts'

const route = getRouteApi('/p/$project/settings/integrations/$integration')

/** One integration that needs a key and no source: the lines to set, the key, and the last call. */
export function IntegrationView() {
  const params = route.useParams()
  const integration = integrations.find(({ name }) => name === params.integration)
  if (!integration) return <NotFound />
  return <SetUp key={integration.name} integration={integration} />
}

function SetUp({ integration }: { integration: Integration }) {
  const { label, description, bySource, access, guide, linesOf } = integration
  const { id: project } = useProject()
  const create = useNewKey()
  // Until the page is left, as the dialog promises.
  const [made, setMade] = useState<string | null>(null)
  const key = made ?? (access === 'ingest' ? 'ck_ingest_…' : 'ck_live_…')
  const createKey = () =>
    create({
      preset: { name: label, access },
      onMade: (created) => setMade(created.key),
      use: <p className="cb-dimmed">The lines on this page have the key until you leave it.</p>,
    })
  return (
    <Page
      title={label}
      description={<PageLink {...to.integrations}>All integrations</PageLink>}
      action={
        <Button leftSection={<IconPlus size={16} />} onClick={createKey}>
          Create {access} key
        </Button>
      }
    >
      <Stack gap="lg" maw={720}>
        {access === 'ingest' && <Arrived integration={integration} />}
        <Panel title={access === 'ingest' ? `Set up ${label}` : `Knowledge for ${label}`}>
          <div className="cb-stack">
            {bySource && (
              <p>
                {bySource}{' '}
                <PageLink {...to.integrations} search={{ create: 'source' }}>
                  add LiveKit as a source
                </PageLink>
                .
              </p>
            )}
            <p className="cb-dimmed">
              {description}{' '}
              {made === null
                ? `Create the ${access} key to fill it into these lines. The key is shown once.`
                : 'These lines have the new key until you leave this page.'}
            </p>
            {linesOf({ url: location.origin, key, project }).map((lines) => (
              <LinesToCopy key={lines.label} {...lines} />
            ))}
            <Anchor href={`/docs/guide/${guide}`}>{label} in the guide</Anchor>
          </div>
        </Panel>
      </Stack>
    </Page>
  )
}

function LinesToCopy({ label, hint, code }: Lines) {
  return (
    <Labelled label={label} hint={hint}>
      <CodeBlock code={code} label={`Copy: ${label}`} />
    </Labelled>
  )
}

/** The calls that have come from the integration, or that it waits for the first. */
function Arrived({ integration: { name, source = name, label } }: { integration: Integration }) {
  const { data, error, refetch } = useLastCall(source, true)
  if (error && !data)
    return <Problem error={error} title="The calls could not be loaded" onRetry={() => void refetch()} />
  const [last] = data?.data ?? []
  const state = last ? (
    <span>
      Last call: <LastCallLink {...last} />
    </span>
  ) : (
    <StatusBadge tone="neutral" icon={<IconClock size={12} />}>
      Waiting for the first call
    </StatusBadge>
  )
  return (
    <Panel title="Calls" aside={data && state}>
      {!data && <Skeleton height={20} />}
      {data && !last && (
        <p className="cb-dimmed" role="status">
          No call from {label} yet. Make a test call. It appears here automatically.
        </p>
      )}
      {data && last && (
        <Group justify="space-between" role="status">
          <span>{totalLabel(data)}</span>
          <PageLink {...to.calls} search={{ source }}>
            Calls from {label}
          </PageLink>
        </Group>
      )}
    </Panel>
  )
}

/** When a call began, as a link to it. */
export function LastCallLink({ id, createdAt }: { id: string; createdAt: string }) {
  return (
    <PageLink {...to.call(id)}>
      <Instant at={createdAt} />
    </PageLink>
  )
}
