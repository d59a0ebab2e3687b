import { Anchor, Button, Group, Skeleton, Stack } from '@mantine/core'
import { IconClock, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { NotFound } from '../../shell/not-found.tsx'
import { totalLabel } from '../calls/pages.ts'
import { type Integration, integrations, type Lines } from './integrations.ts'
import { useNewKey } from './new-key.tsx'
import classes from './settings.module.css'
import { lastCallQuery } from './source-queries.ts'

const route = getRouteApi('/p/$project/settings/integrations/$integration')

/** One integration that needs a key and no source: the lines to set, the key, and the last call. */
export function IntegrationView() {
  const params = route.useParams()
  const integration = integrations.find(({ name }) => name === params.integration)
  if (!integration) return <NotFound />
  return <Connected key={integration.name} integration={integration} project={params.project} />
}

function Connected({ integration, project }: { integration: Integration; project: string }) {
  const { label, description, bySource, access, guide, linesOf } = integration
  const create = useNewKey()
  // Until the page is left, as the dialog promises.
  const [made, setMade] = useState<string | null>(null)
  const key = made ?? (access === 'ingest' ? 'ck_ingest_…' : 'ck_live_…')
  return (
    <>
      <PageHeader
        title={label}
        description={
          <PageLink to="/p/$project/settings/integrations" params={{ project }}>
            All integrations
          </PageLink>
        }
        action={
          <Button
            leftSection={<IconPlus size={16} />}
            onClick={() =>
              create({
                preset: { name: label, access },
                onMade: ({ key }) => setMade(key),
                use: <p className="cb-dimmed">The lines on this page have the key until you leave it.</p>,
              })
            }
          >
            Create {access} key
          </Button>
        }
      />
      <Stack gap="lg" maw={720}>
        {access === 'ingest' && <Arrived integration={integration} project={project} />}
        <Panel title={access === 'ingest' ? `Set up ${label}` : `Knowledge for ${label}`}>
          <div className="cb-stack">
            {bySource && (
              <p>
                {bySource}{' '}
                <PageLink
                  to="/p/$project/settings/integrations"
                  params={{ project }}
                  search={{ create: 'source' }}
                >
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
            <LinesToCopy lines={linesOf({ url: location.origin, key, project })} />
            <Anchor href={`/docs/guide/${guide}`}>{label} in the guide</Anchor>
          </div>
        </Panel>
      </Stack>
    </>
  )
}

function LinesToCopy({ lines }: { lines: Lines[] }) {
  return lines.map(({ label, hint, code }) => (
    <div key={label}>
      <p className={classes.label}>{label}</p>
      {hint && <p className={classes.fieldHint}>{hint}</p>}
      <CodeBlock code={code} label={`Copy: ${label}`} />
    </div>
  ))
}

/** The calls that have come from the integration, or that it waits for the first. */
function Arrived({ integration: { name, label }, project }: { integration: Integration; project: string }) {
  const { data, error, refetch } = useQuery(lastCallQuery(project, name, true))
  if (error && !data)
    return <Problem error={error} title="The calls could not be loaded" onRetry={() => void refetch()} />
  const [last] = data?.data ?? []
  return (
    <Panel
      title="Calls"
      aside={
        data &&
        (last ? (
          <span>
            Last call: <CallLink call={last} project={project} />
          </span>
        ) : (
          <StatusBadge tone="neutral" icon={<IconClock size={12} />}>
            Waiting for the first call
          </StatusBadge>
        ))
      }
    >
      {!data && <Skeleton height={20} />}
      {data && !last && (
        <p className="cb-dimmed" role="status">
          No call from {label} yet. Make a test call. It appears here automatically.
        </p>
      )}
      {data && last && (
        <Group justify="space-between" role="status">
          <span>{totalLabel(data)}</span>
          <PageLink to="/p/$project/calls" params={{ project }} search={{ source: name }}>
            Calls from {label}
          </PageLink>
        </Group>
      )}
    </Panel>
  )
}

/** When a call began, as a link to it. */
export function CallLink({
  call: { id, createdAt },
  project,
}: {
  call: Pick<CallRow, 'id' | 'createdAt'>
  project: string
}) {
  return (
    <PageLink to="/p/$project/calls/$call" params={{ project, call: id }}>
      <Instant at={createdAt} />
    </PageLink>
  )
}
