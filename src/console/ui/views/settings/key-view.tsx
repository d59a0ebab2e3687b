import { Button, Group, Skeleton } from '@mantine/core'
import { IconRefresh, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { Empty } from '../../components/empty.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useNow } from '../../components/use-now.ts'
import { lastInstantOf } from './expiry.ts'
import { KeyForm } from './key-form.tsx'
import { accesses, accessOf, keysQuery, stateOf } from './key-queries.ts'
import { KeyState } from './key-state.tsx'
import { OwnersOnly } from './owners-only.tsx'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import classes from './settings.module.css'

const route = getRouteApi('/p/$project/settings/keys/$key')

/** One key: what is known of it, its rules, and its rotation. */
export function KeyView() {
  return (
    <OwnersOnly title="API key">
      <Key />
    </OwnersOnly>
  )
}

function Key() {
  const { project, key: id } = route.useParams()
  const { data, error, refetch } = useQuery(keysQuery(project))
  if (error && !data)
    return <Problem error={error} title="The key could not be loaded" onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={240} />
  const record = data.data.find((key) => key.id === id)
  if (!record) {
    return (
      <Empty title="Key not found">
        <AllKeys project={project} />
      </Empty>
    )
  }
  // Another key is another page, with nothing left of the form of the one before.
  return <OpenKey key={id} record={record} all={data.data} project={project} />
}

interface OpenKeyProps {
  record: KeyRecord
  all: readonly KeyRecord[]
  project: string
}

function OpenKey({ record, all, project }: OpenKeyProps) {
  const now = useNow()
  const [isRotating, setRotating] = useState(false)
  const [revoking, setRevoking] = useState<KeyRecord | null>(null)
  const successor = all.find(({ replaces }) => replaces === record.id)
  const state = stateOf(record, now)
  return (
    <>
      <PageHeader
        title={record.name}
        description={<AllKeys project={project} />}
        action={
          state !== 'revoked' && (
            <Group gap="xs">
              <Button
                variant="default"
                leftSection={<IconTrash size={16} />}
                onClick={() => setRevoking(record)}
              >
                Revoke
              </Button>
              {state === 'active' && !successor && (
                <Button leftSection={<IconRefresh size={16} />} onClick={() => setRotating(true)}>
                  Rotate
                </Button>
              )}
            </Group>
          )
        }
      />
      <div className={classes.forms}>
        <Panel title="Key" aside={<KeyState row={record} now={now} isReplaced={successor !== undefined} />}>
          <Facts record={record} all={all} successor={successor} project={project} />
        </Panel>
        {state !== 'revoked' && <KeyForm key={JSON.stringify(record.expiresAt)} record={record} />}
      </div>
      <RotateKeyDialog record={record} opened={isRotating} onClose={() => setRotating(false)} />
      <RevokeKeyDialog revoking={revoking} onClose={() => setRevoking(null)} />
    </>
  )
}

function Facts({ record, all, successor, project }: OpenKeyProps & { successor: KeyRecord | undefined }) {
  const { id, hint, createdAt, createdBy, expiresAt, lastUsedAt, lastUsedIp, revokedAt, replaces } = record
  const { label, opens } = accesses[accessOf(record)]
  const predecessor = all.find((key) => key.id === replaces)
  return (
    <dl className={`${classes.facts} ${classes.keyFacts}`}>
      <Fact label="Key">
        <Mono>{hint}</Mono>
      </Fact>
      <Fact label="ID">
        <Mono>{id}</Mono>
      </Fact>
      <Fact label="Access">
        <span>
          {label}.{' '}
          <span className="cb-dimmed">
            {opens} A key’s access cannot be changed. Create another key for different access.
          </span>
        </span>
      </Fact>
      <Fact label="Created">
        <span>
          <Instant at={createdAt} as="absolute" /> by {createdBy ?? 'the command line'}
        </span>
      </Fact>
      <Fact label="Last used">
        {lastUsedAt ? (
          <span>
            <Instant at={lastUsedAt} />
            {lastUsedIp && (
              <>
                {' from '}
                <Mono>{lastUsedIp}</Mono>
              </>
            )}
          </span>
        ) : (
          'Never'
        )}
      </Fact>
      <Fact label="Expires">
        {expiresAt ? <Instant at={lastInstantOf(expiresAt)} as="absolute" /> : 'Never'}
      </Fact>
      {revokedAt && (
        <Fact label="Revoked">
          <Instant at={revokedAt} as="absolute" />
        </Fact>
      )}
      {predecessor && (
        <Fact label="Replaces">
          <KeyLink record={predecessor} project={project} />
        </Fact>
      )}
      {successor && (
        <Fact label="Replaced by">
          <KeyLink record={successor} project={project} />
        </Fact>
      )}
    </dl>
  )
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function KeyLink({ record: { id, name, hint }, project }: { record: KeyRecord; project: string }) {
  return (
    <PageLink to="/p/$project/settings/keys/$key" params={{ project, key: id }}>
      {name} ({hint})
    </PageLink>
  )
}

function AllKeys({ project }: { project: string }) {
  return (
    <PageLink to="/p/$project/settings/keys" params={{ project }}>
      All keys
    </PageLink>
  )
}
