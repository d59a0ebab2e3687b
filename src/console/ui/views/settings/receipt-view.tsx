import { Button, Skeleton, Stack } from '@mantine/core'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { asCount } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useDates } from '../../components/use-dates.ts'
import { useProject } from '../../session.ts'
import { receiptQuery } from './receipt-queries.ts'
import { ReceiptState } from './receipts-view.tsx'
import classes from './settings.module.css'

const route = getRouteApi('/p/$project/settings/privacy/receipts/$receipt')

/** One receipt, to print and to file. It names nothing of the person. */
export function ReceiptView() {
  const { project, receipt: id } = route.useParams()
  const { name } = useProject()
  const dates = useDates()
  const { data, error, refetch } = useQuery(receiptQuery(project, id))
  if (error && !data)
    return <Problem error={error} title="The receipt could not be loaded" onRetry={() => void refetch()} />
  const facts = data && [
    ['Receipt', <Mono key="id">{data.id}</Mono>],
    ['Project', name],
    ['Requested', dates.exact(data.requestedAt)],
    ['Last byte gone', data.doneAt ? dates.exact(data.doneAt) : 'Not yet'],
    ['Calls to erase', asCount(data.calls ?? 0)],
    ['Calls erased', asCount(data.deleted ?? 0)],
    ['Calls kept on hold', asCount(data.onHold ?? 0)],
  ]
  return (
    <>
      <PageHeader
        title="Erasure receipt"
        description={
          <PageLink
            to="/p/$project/settings/privacy/receipts"
            params={{ project }}
            className={classes.onScreen}
          >
            All receipts
          </PageLink>
        }
        action={
          <Button leftSection={<IconPrinter size={16} />} onClick={() => print()} disabled={!data}>
            Print
          </Button>
        }
      />
      <Stack gap="lg" maw={720}>
        {data && facts ? (
          <Panel title="Calls of a person" aside={<ReceiptState receipt={data} />}>
            <dl className={classes.facts}>
              {facts.map(([label, value]) => (
                <div key={String(label)}>
                  <dt>{label}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
            <p className={`cb-dimmed ${classes.settingFacts}`}>
              {data.doneAt
                ? 'Each of these calls was deleted with its transcript, details and recording, and no byte of them is left in the service’s files. '
                : 'The calls are deleted, and their bytes are being erased from the service’s files. '}
              The receipt holds neither the number nor anything else of the person. Copies in backups and on
              voice platforms are not part of it.
            </p>
          </Panel>
        ) : (
          <Skeleton height={240} />
        )}
        {data && (
          <PageLink
            to="/p/$project/settings/audit"
            params={{ project }}
            search={{ action: 'erasure_requested' }}
            className={classes.onScreen}
          >
            Who asked for it: audit trail
          </PageLink>
        )}
      </Stack>
    </>
  )
}
