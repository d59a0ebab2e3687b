import { Button } from '@mantine/core'
import { IconAlertTriangle, IconPlug, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { setUpOf } from '../../../../sources/catalog.ts'
import { read } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { asCount } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Page, Section } from '../../components/page.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { QueryTable, Table } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { LastCallLink } from './integration-view.tsx'
import { type Integration, integrations } from './integrations.ts'
import { useNewSource } from './new-source.tsx'
import classes from './settings.module.css'
import { SourceState } from './source-view.tsx'
import { useLastCall, watchingMs } from './sources.ts'
import { useLinkToCreate } from './use-link-to-create.ts'

/** What sends calls into the project, and what asks for its knowledge. */
export function IntegrationsView() {
  const { of } = useProject()
  const sources = useQuery({ ...read(of.sources), refetchInterval: watchingMs })
  const navigate = useNavigate()
  const add = useNewSource()
  useLinkToCreate('source', add)
  const addButton = (
    <Button leftSection={<IconPlus size={16} />} onClick={add}>
      Add source
    </Button>
  )
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
          columns={({ cell, text }) => [
            cell('Name', ({ id, name }) => (
              <Named>
                <PageLink {...to.source(id)} c="inherit" className="cb-truncate" dir="auto">
                  {name}
                </PageLink>
              </Named>
            )),
            text('Platform', ({ platform }) => setUpOf(platform).label, { width: '120px', from: 640 }),
            cell('Last event', (row) => <SourceState source={row} />, { width: '232px' }),
            cell('Events', ({ events }) => <span className="cb-figure">{asCount(events)}</span>, {
              width: '88px',
              align: 'right',
              from: 480,
            }),
            cell('Failed', ({ failures }) => <Failed count={failures} />, {
              width: '104px',
              align: 'right',
              from: 480,
            }),
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
  const { id: project } = useProject()
  const navigate = useNavigate()
  const toIntegration = (name: string) =>
    ({
      to: '/p/$project/settings/integrations/$integration',
      params: { project, integration: name },
    }) as const
  return (
    <Section title={title}>
      <Table
        label={title}
        rows={integrations.filter((each) => each.access === access)}
        rowKey={({ name }) => name}
        onOpen={({ name }) => void navigate(toIntegration(name))}
        columns={({ cell }) => [
          cell('Name', ({ name, label }) => (
            <Named>
              <PageLink {...toIntegration(name)} c="inherit" className="cb-truncate">
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
  if (count === 0) return <span className="cb-dimmed cb-figure">0</span>
  return (
    <StatusBadge tone="danger" icon={<IconAlertTriangle size={12} />}>
      {asCount(count)}
    </StatusBadge>
  )
}
