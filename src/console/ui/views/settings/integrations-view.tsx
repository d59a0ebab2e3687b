import { Anchor, Group, Skeleton, Stack } from '@mantine/core'
import { IconAlertTriangle, IconClock, IconPlug, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { setUpOf } from '../../../../sources/catalog.ts'
import { read } from '../../api.ts'
import { CodeBlock } from '../../components/code.tsx'
import { useLinkToCreate } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Labelled, Loaded, Page, Section } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable, Table } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { NotFound } from '../../shell/page-problem.tsx'
import { totalLabel } from '../calls/pages.ts'
import { type Integration, integrations, type Lines } from './integrations.ts'
import { useNewKey } from './new-key.tsx'
import classes from './settings.module.css'
import { SourceState } from './source-view.tsx'
import { useLastCall, useNewSource, watchingMs } from './sources.tsx'

/** What sends calls into the project, and what asks for its knowledge. */
export function IntegrationsView() {
  const { of } = useProject()
  const sources = useQuery({ ...read(of.sources), refetchInterval: watchingMs })
  const navigate = useNavigate()
  const add = useNewSource()
  useLinkToCreate('source', add)
  const addButton = <TextButton icon={IconPlus} label="Add source" onClick={add} />
  return (
    <Page
      title="Integrations"
      description="Voice platforms that send calls to this project, and agents that search its knowledge."
      action={sources.data?.data.length ? addButton : undefined}
    >
      <Section title="Sources">
        <QueryTable
          label="Sources"
          of={sources}
          what="The sources"
          rows={sources.data?.data}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void navigate(to.source(id))}
          expectedRows={3}
          columns={({ cell, figure, text }) => [
            cell('Name', ({ id, name }) => (
              <Named>
                <PageLink {...to.source(id)} c="inherit" className="cb-truncate" dir="auto">
                  {name}
                </PageLink>
              </Named>
            )),
            text('Platform', ({ platform }) => setUpOf(platform).label, { width: '120px', from: 640 }),
            cell('Last event', (row) => <SourceState source={row} />, { width: '232px' }),
            figure('Events', ({ events }) => asCount(events), '88px', 480),
            figure('Failed', ({ failures }) => <Failed count={failures} />, '104px', 480),
          ]}
          empty={
            <Empty icon={<IconPlug size={24} />} title="No sources yet" action={addButton}>
              A source is an address that you give to a voice platform. The platform’s calls then appear here
              automatically. Works with Vapi, Retell, ElevenLabs, Bland, Telnyx, Ultravox, Synthflow,
              Cartesia, Dograh and LiveKit Agents.
            </Empty>
          }
        />
      </Section>
      <ByKey title="OpenTelemetry and your own code" access="ingest" />
      <ByKey title="Connect agents" access="search" />
    </Page>
  )
}

/** The integrations that have keys of one access. */
function ByKey({ title, access }: Pick<Integration, 'access'> & { title: string }) {
  const navigate = useNavigate()
  return (
    <Section title={title}>
      <Table
        label={title}
        rows={integrations.filter((each) => each.access === access)}
        rowKey={({ name }) => name}
        onOpen={({ name }) => void navigate(to.integration(name))}
        columns={({ cell }) => [
          cell('Name', ({ name, label }) => (
            <Named>
              <PageLink {...to.integration(name)} c="inherit" className="cb-truncate">
                {label}
              </PageLink>
            </Named>
          )),
          access === 'ingest'
            ? cell('Last call', (row) => <LastCall integration={row} />, { width: '120px' })
            : cell(
                'What it does',
                ({ description }) => (
                  <span className="cb-dimmed cb-truncate" title={description}>
                    {description}
                  </span>
                ),
                { width: '65%', from: 640 },
              ),
        ]}
      />
    </Section>
  )
}

function Named({ children }: { children: ReactNode }) {
  return <span className={classes.keyName}>{children}</span>
}

function LastCall({ integration: { name, source = name } }: { integration: Integration }) {
  const { data } = useLastCall(source)
  const [last] = data?.data ?? []
  if (last) return <LastCallLink {...last} />
  return data ? <span className="cb-dimmed">None yet</span> : null
}

function Failed({ count }: { count: number }) {
  if (count === 0) return <span className="cb-dimmed">0</span>
  return <StatusBadge tone="danger" icon={IconAlertTriangle} label={asCount(count)} />
}

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
      action={<TextButton icon={IconPlus} label={`Create ${access} key`} onClick={createKey} />}
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
  const calls = useLastCall(source, true)
  const [last] = calls.data?.data ?? []
  const waits = <StatusBadge tone="neutral" icon={IconClock} label="Waiting for the first call" />
  const state = last ? (
    <span>
      Last call: <LastCallLink {...last} />
    </span>
  ) : (
    calls.data && waits
  )
  return (
    <Panel title="Calls" aside={state}>
      <Loaded query={calls} what="The calls" waiting={<Skeleton height={20} />}>
        {(data) =>
          last ? (
            <Group justify="space-between" role="status">
              <span>{totalLabel(data)}</span>
              <PageLink {...to.calls} search={{ source }}>
                Calls from {label}
              </PageLink>
            </Group>
          ) : (
            <p className="cb-dimmed" role="status">
              No call from {label} yet. Make a test call. It appears here automatically.
            </p>
          )
        }
      </Loaded>
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
