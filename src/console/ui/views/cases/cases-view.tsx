import { Menu, Text } from '@mantine/core'
import { IconDownload, IconTestPipe, IconTrash } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { CaseRow } from '../../../case-routes.ts'
import { read, readPages } from '../../api.ts'
import { useConfirm } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Page } from '../../components/page.tsx'
import { PagedTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { hashOfTurn } from '../calls/call-links.ts'

/** The tests that were made of calls. */
export function CasesView() {
  const { of } = useProject()
  const tests = useInfiniteQuery(readPages(of.cases))
  const mayChange = useRefusal('change') === null
  const remove = useRemoval()
  const rows = tests.data?.pages.flatMap(({ data }) => data)
  return (
    <Page
      title="Tests"
      description="Calls that went wrong, up to the agent’s answer, and what that answer should do. A test is erased with its call."
      action={rows && rows.length > 0 && <ExportMenu />}
    >
      <PagedTable
        label="Tests"
        of={tests}
        what="The tests"
        more="Load older tests"
        rows={rows}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={<IconTestPipe size={24} stroke={1.6} />} title="No tests yet">
            Open a call, point at a turn of the agent, and choose “Make a test”.
          </Empty>
        }
        columns={({ actions, cell, text, when }) => [
          cell('Test', (row) => (
            <PageLink {...to.call(row.call)} hash={hashOfTurn(row.turn)} inherit className="cb-truncate">
              <bdi>{row.name}</bdi>
            </PageLink>
          )),
          ...(rows?.some(({ expect, name }) => expect !== name)
            ? [text('Expectation', ({ expect }) => expect, { from: 800, isDimmed: true })]
            : []),
          text('By', ({ createdBy }) => createdBy, { none: 'Command line', from: 640, width: '140px' }),
          when('Created', ({ createdAt }) => createdAt, { from: 480 }),
          actions('Actions', (row) => [
            mayChange && {
              icon: IconTrash,
              label: `Delete ${row.name}`,
              hint: 'Delete',
              act: () => remove(row),
            },
          ]),
        ]}
      />
    </Page>
  )
}

function useRemoval() {
  const { of } = useProject()
  const ask = useConfirm()
  return ({ id, name }: CaseRow) =>
    ask({
      title: 'Delete this test?',
      verb: 'Delete test',
      text: `“${name}” is deleted with every byte of it. What you have exported stays until you prune it.`,
      send: () => of.cases({ id }).delete(),
      changes: of.cases,
    })
}

/** All tests as a file, for each framework, which says what it can test. */
function ExportMenu() {
  const { id: project, of } = useProject()
  const { data: formats = [] } = useQuery(read(of.cases.formats))
  return (
    <Menu position="bottom-end" width={340}>
      <Menu.Target>
        <TextButton icon={IconDownload} label="Export" variant="default" />
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map(({ name, file, about }) => (
          <Menu.Item
            key={name}
            component="a"
            href={`/console/api/projects/${project}/exports/cases?format=${name}`}
            download={file}
          >
            {labels[name] ?? name}
            <Text size="xs" c="dimmed">
              {about.replaceAll('`', '')}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

const labels: Record<string, string> = {
  jsonl: 'JSON lines, for callbook check',
  pipecat: 'Pipecat',
  livekit: 'LiveKit (pytest)',
  vapi: 'Vapi',
  retell: 'Retell',
  elevenlabs: 'ElevenLabs',
}
