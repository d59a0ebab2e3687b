import { Button, Group, Input, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { IconRefresh, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import type { KeyRecord } from '../../../../access/keys/key-record.ts'
import { isTag } from '../../../../text/tags.ts'
import { read } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { useShow } from '../../components/dialogs.tsx'
import { Empty } from '../../components/empty.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { Facts, Labelled, Loaded, Page } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { to } from '../../components/to.ts'
import { useDates } from '../../components/use-dates.ts'
import { useNow } from '../../components/use-now.ts'
import { useProject } from '../../session.ts'
import { expiresAtOf, expiryOf, lastInstantOf } from './expiry.ts'
import {
  AllowedOrigins,
  AllowList,
  allowedIpsOf,
  ExpiryField,
  OnlyTagged,
  originsOf,
  useAddressCheck,
} from './key-rules.tsx'
import { accesses, accessOf, stateOf } from './keys.ts'
import { KeyState, useRevokeKey } from './keys-view.tsx'
import { useShowKey } from './new-key.tsx'

const route = getRouteApi('/p/$project/settings/keys/$key')
const allKeys = <PageLink {...to.keys}>All keys</PageLink>

/** One key: what is known of it, its rules, and its rotation. */
export function KeyView() {
  const { of } = useProject()
  const { key: id } = route.useParams()
  return (
    <Loaded query={useQuery(read(of.keys))} what="The key">
      {({ data }) => {
        const record = data.find((key) => key.id === id)
        // Another key is another page, with nothing left of the form of the one before.
        return record ? (
          <Key key={id} record={record} all={data} />
        ) : (
          <Empty title="Key not found">{allKeys}</Empty>
        )
      }}
    </Loaded>
  )
}

function Key({ record, all }: { record: KeyRecord; all: readonly KeyRecord[] }) {
  const now = useNow()
  const revoke = useRevokeKey()
  const rotate = useRotateKey(record)
  const successor = all.find(({ replaces }) => replaces === record.id)
  const state = stateOf(record, now)
  return (
    <Page
      title={record.name}
      description={allKeys}
      action={
        state !== 'revoked' && (
          <Group gap="xs">
            <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => revoke(record)}>
              Revoke
            </Button>
            {state === 'active' && !successor && (
              <Button leftSection={<IconRefresh size={16} />} onClick={rotate}>
                Rotate
              </Button>
            )}
          </Group>
        )
      }
    >
      <Stack gap="lg" maw={720}>
        <Panel title="Key" aside={<KeyState row={record} now={now} isReplaced={successor !== undefined} />}>
          <KeyFacts
            record={record}
            successor={successor}
            predecessor={all.find(({ id }) => id === record.replaces)}
          />
        </Panel>
        {state !== 'revoked' && <KeyForm key={JSON.stringify(record.expiresAt)} record={record} />}
      </Stack>
    </Page>
  )
}

interface KeyFactsProps {
  record: KeyRecord
  successor: KeyRecord | undefined
  predecessor: KeyRecord | undefined
}

function KeyFacts({ record, successor, predecessor }: KeyFactsProps) {
  const { id, hint, createdAt, createdBy, expiresAt, lastUsedAt, lastUsedIp, revokedAt } = record
  const { label, opens } = accesses[accessOf(record)]
  return (
    <Facts
      of={{
        Key: <Mono>{hint}</Mono>,
        ID: <Mono>{id}</Mono>,
        Access: (
          <>
            {label}.{' '}
            <span className="cb-dimmed">
              {opens} A key’s access cannot be changed. Create another key for different access.
            </span>
          </>
        ),
        Created: (
          <>
            <Instant at={createdAt} as="absolute" /> by {createdBy ?? 'the command line'}
          </>
        ),
        'Last used': lastUsedAt ? (
          <>
            <Instant at={lastUsedAt} />
            {lastUsedIp && ' from '}
            {lastUsedIp && <Mono>{lastUsedIp}</Mono>}
          </>
        ) : (
          'Never'
        ),
        Expires: expiresAt ? <Instant at={lastInstantOf(expiresAt)} as="absolute" /> : 'Never',
        Revoked: revokedAt && <Instant at={revokedAt} as="absolute" />,
        Replaces: predecessor && <KeyLink record={predecessor} />,
        'Replaced by': successor && <KeyLink record={successor} />,
      }}
    />
  )
}

function KeyLink({ record: { id, name, hint } }: { record: KeyRecord }) {
  return (
    <PageLink {...to.key(id)}>
      {name} ({hint})
    </PageLink>
  )
}

/** What may be changed of a key in use. */
function KeyForm({ record }: { record: KeyRecord }) {
  const { of } = useProject()
  const dates = useDates()
  const was = expiryOf(record.expiresAt, dates)
  const form = useApiForm({
    first: {
      name: record.name,
      expiry: was,
      entries: record.allowedIps.length > 0 ? record.allowedIps : [''],
      origins: record.allowedOrigins.join(', '),
      tags: record.tags,
    },
    isEdit: true,
    needs: ['name'],
    isReady: ({ expiry, tags }) =>
      (isSame(expiry, was) || expiresAtOf(expiry, dates) !== undefined) && tags.every(isTag),
    body: ({ name, expiry, entries, origins, tags }) => ({
      name: name.trim(),
      allowedIps: allowedIpsOf(entries),
      allowedOrigins: originsOf(origins),
      tags,
      // The same day keeps its exact time.
      ...(!isSame(expiry, was) && { expiresAt: expiresAtOf(expiry, dates) ?? null }),
    }),
    send: (body) => of.keys({ id: record.id }).patch(body),
    changes: of.keys,
    says: ({ name }) => `${name} saved.`,
  })
  const { entries } = form.values
  const check = useAddressCheck(entries)
  return (
    <Panel title="Rules">
      <ApiForm form={form} label="Save" isReady={!check.hasFaults}>
        <TextInput label="Name" maxLength={200} {...form.field('name')} />
        {record.scope === 'search' && <OnlyTagged {...form.field('tags')} />}
        <ExpiryField {...form.field('expiry', 'expiresAt')} />
        <AllowList check={check} {...form.field('entries')} />
        {restricts(record.allowedIps) && !restricts(allowedIpsOf(entries)) && (
          <Input.Error role="status">
            Saving this lets anyone who has the key use it from any address.
          </Input.Error>
        )}
        {(record.scope === 'read' || record.scope === 'search') && (
          <AllowedOrigins {...form.field('origins')} />
        )}
      </ApiForm>
    </Panel>
  )
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function restricts(entries: readonly string[]): boolean {
  return entries.length > 0 && !entries.includes('*')
}

const overlaps = [
  { value: '0', label: 'None' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
]

/** Makes a key like this one and shows it once, then opens its page. */
function useRotateKey(record: KeyRecord) {
  const show = useShow()
  return () =>
    show({
      title: `Rotate ${record.name}?`,
      content: (close) => <RotateForm record={record} onCancel={close} />,
    })
}

function RotateForm({ record, onCancel }: { record: KeyRecord; onCancel: () => void }) {
  const { of } = useProject()
  const navigate = useNavigate()
  const showKey = useShowKey()
  const form = useApiForm({
    first: { overlap: '24' },
    body: ({ overlap }) => ({ overlapHours: Number(overlap) }),
    send: (body) => of.keys({ id: record.id }).rotate.post(body),
    changes: of.keys,
    done: (made) =>
      showKey(made, undefined, () => void navigate({ ...to.key(made.id), ignoreBlocker: true })),
  })
  const isAtOnce = form.values.overlap === '0'
  return (
    <ApiForm form={form} label="Rotate key" isDanger={isAtOnce} onCancel={onCancel}>
      <p>
        You get a new key with the same access and rules. The old key keeps working during the overlap, so
        that you have time to replace it.
      </p>
      <Labelled label="Overlap" id="overlap-label">
        <SegmentedControl
          size="xs"
          aria-labelledby="overlap-label"
          data={overlaps}
          {...form.input('overlap')}
        />
      </Labelled>
      {isAtOnce && <Input.Error>The old key stops working at once.</Input.Error>}
    </ApiForm>
  )
}
