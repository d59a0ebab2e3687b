import { Box, Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { CallerRecord } from '../../../../calls/keeping/callers.ts'
import type { HoldRecord } from '../../../../calls/keeping/holds.ts'
import { read } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { useConfirm, useShow } from '../../components/dialogs.tsx'
import { Instant } from '../../components/instant.tsx'
import { Loaded } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { QueryTable } from '../../components/table.tsx'
import { useProject, useRefusal } from '../../session.ts'

/** The legal holds on a call. Viewers are not told. */
export function useHolds(id: string): HoldRecord[] {
  const { of } = useProject()
  const mayRead = useRefusal('change') === null
  return useQuery({ ...read(of.calls({ id }).holds), enabled: mayRead }).data?.data ?? []
}

/** The legal holds on a call; nothing if it has none. An owner can lift those on this call alone. */
export function CallHolds({ id }: { id: string }) {
  const isOwner = useRefusal('manage') === null
  const holds = useHolds(id)
  if (holds.length === 0) return null
  return (
    <Stack component="ul" gap={4} mt={0} mb={8} p={0}>
      {holds.map((hold) => (
        <Group key={hold.id} component="li" gap={8} wrap="nowrap" mih={28}>
          <IconLock size={14} aria-hidden />
          <Box component="p" flex={1} dir="auto">
            {hold.number === null ? 'On hold' : 'Number on hold'}: {hold.reason}
          </Box>
          {isOwner && hold.callId === id && <LiftButton hold={hold} size="compact-xs" />}
        </Group>
      ))}
    </Stack>
  )
}

/** Asks an owner for the reason to put a call on hold. */
export function useAskForHold(id: string) {
  const show = useShow()
  return () =>
    show({
      title: 'Put this call on hold',
      content: (close) => (
        <HoldForm on={{ callId: id }} onCancel={close}>
          <p>The call cannot be deleted until an owner lifts the hold.</p>
        </HoldForm>
      ),
    })
}

/** Calls and numbers that must not be deleted: list, set, lift. */
export function HoldsPanel() {
  const holds = useQuery(read(useProject().of.holds))
  return (
    <Panel title="Legal holds">
      <Stack gap={16}>
        <p className="cb-dimmed">
          A call on hold cannot be deleted by a person, an erasure by number, or retention.
        </p>
        <QueryTable
          label="Legal holds"
          of={holds}
          what="The holds"
          rows={holds.data?.data}
          rowKey={({ id }) => id}
          expectedRows={1}
          empty={<p>No calls are on hold.</p>}
          columns={({ cell, mono, text, when }) => [
            mono('On hold', ({ callId, number }) => callId ?? number),
            text('Reason', ({ reason }) => reason),
            when('Since', ({ createdAt }) => createdAt, { width: '120px', from: 640 }),
            cell('', (hold) => <LiftButton hold={hold} isNamed />, { width: '80px', align: 'right' }),
          ]}
        />
        <HoldForm />
      </Stack>
    </Panel>
  )
}

/** The legal holds on a person's number; owners set and lift them. */
export function CallerHolds({ caller: { id, number } }: { caller: CallerRecord }) {
  const { of } = useProject()
  const isOwner = useRefusal('manage') === null
  return (
    <Panel title="Legal hold">
      <Loaded query={useQuery(read(of.callers({ caller: id }).holds))} what="The holds">
        {({ data }) =>
          data.length > 0 ? (
            <Stack component="ul" gap={8} m={0} p={0}>
              {data.map((hold) => (
                <Group key={hold.id} component="li" gap={12} wrap="nowrap" align="flex-start">
                  <Box component="p" flex={1} miw={0} style={{ overflowWrap: 'anywhere' }}>
                    <span dir="auto">{hold.reason}</span>
                    <br />
                    <span className="cb-dimmed">
                      Since <Instant at={hold.createdAt} as="day" />{' '}
                      {hold.createdBy && `by ${hold.createdBy}`}
                    </span>
                  </Box>
                  {isOwner && <LiftButton hold={hold} />}
                </Group>
              ))}
            </Stack>
          ) : (
            <Stack gap={16}>
              <p className="cb-dimmed">
                Not on hold. A hold keeps all calls of this number, later ones too, from being deleted.
              </p>
              {isOwner && <HoldForm on={{ number }} />}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  )
}

/** What changes with a hold. */
function useChanged() {
  const { of } = useProject()
  return [of.holds, of.calls, of.callers]
}

interface LiftButtonProps {
  hold: HoldRecord
  size?: 'xs' | 'compact-xs'
  /** Whether it says what it lifts, among others. */
  isNamed?: boolean
}

function LiftButton({ hold: { id, callId, number }, size = 'xs', isNamed = false }: LiftButtonProps) {
  const { of } = useProject()
  const ask = useConfirm()
  const changes = useChanged()
  const lift = () =>
    ask({
      title: 'Lift this hold?',
      verb: 'Lift hold',
      text: 'Its calls can be deleted again, including by retention, unless another hold covers them. The reason of this hold is erased.',
      send: () => of.holds({ id }).delete(),
      changes,
    })
  return (
    <Button
      size={size}
      variant="default"
      onClick={lift}
      {...(isNamed && { 'aria-label': `Lift the hold on ${callId ?? number}` })}
    >
      Lift
    </Button>
  )
}

interface HoldFormProps {
  /** What is put on hold; it is asked for without. */
  on?: { callId: string } | { number: string }
  /** In a dialog. */
  onCancel?: () => void
  children?: React.ReactNode
}

function HoldForm({ on, onCancel, children }: HoldFormProps) {
  const { of } = useProject()
  const form = useApiForm({
    first: { kind: 'number' as 'number' | 'callId', what: '', reason: '' },
    needs: on ? ['reason'] : ['what', 'reason'],
    body: ({ kind, what, reason }) => ({ ...(on ?? { [kind]: what.trim() }), reason: reason.trim() }),
    send: (body) => of.holds.post(body),
    changes: useChanged(),
    says: 'Hold set.',
    done: onCancel,
  })
  const { kind } = form.values
  return (
    <ApiForm form={form} label="Put on hold" onCancel={onCancel}>
      {children}
      {!on && (
        <>
          <SegmentedControl
            size="xs"
            aria-label="What to put on hold"
            data={[
              { value: 'number', label: 'A number' },
              { value: 'callId', label: 'A call' },
            ]}
            {...form.input('kind')}
          />
          <TextInput
            label={kind === 'number' ? 'Number on hold' : 'Call ID'}
            description={
              kind === 'number' && 'The full number. Later calls from it or to it are on hold, too.'
            }
            {...form.field('what', kind)}
          />
        </>
      )}
      <TextInput label="Reason" maxLength={500} data-autofocus {...form.field('reason')} />
    </ApiForm>
  )
}
