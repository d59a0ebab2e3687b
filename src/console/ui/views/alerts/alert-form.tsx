import {
  Button,
  Checkbox,
  Group,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconBrandSlack, IconPhoneCall, IconX } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Alert, AlertChange } from '../../../../alerts/schemas.ts'
import { pathOf, read, unwrap } from '../../api.ts'
import { inputsOf } from '../../components/api-form.tsx'
import { fieldErrors } from '../../components/field-errors.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { CallFilters } from '../calls/call-filters.tsx'
import { faultsOf, readFilters } from '../calls/chosen-filters.ts'
import { FigureChoices } from '../charts/chart-choices.tsx'
import {
  type AddedKind,
  type AlertDraft,
  hasDestination,
  numberOf,
  previewRule,
  proposedLimit,
  ruleOf,
  unitOf,
  unreachableLimit,
} from './alert-draft.ts'
import { type OfferedDestination, previewQuery, useNames } from './alert-queries.ts'
import { unwatched, watchedOf } from './alert-search.ts'
import { conditionInWords, minutesInWords } from './alert-words.ts'
import { describeSent } from './alerts-view.tsx'
import { Preview } from './preview.tsx'

const windows = [5, 15, 30, 60, 180, 360, 720, 1_440, 4_320, 10_080]
const repeats = [15, 30, 60, 240, 720, 1_440]
const withoutData = [
  { value: 'keep', label: 'Keep the state' },
  { value: 'ok', label: 'Go back to OK' },
  { value: 'alert', label: 'Alert' },
]

interface AlertFormProps {
  /** Of an alert that is there; a new one has none. */
  id?: string
  first: AlertDraft
  /** Whether it is paused now. */
  paused?: boolean
  offered: readonly OfferedDestination[]
  onSaved?: (saved: Alert, offered: readonly OfferedDestination[]) => void
}

/** A rule, beside what it would have done. */
export function AlertForm({ id, first, paused = false, offered, onSaved }: AlertFormProps) {
  const [draft, setDraft] = useState(first)
  const change = (part: Partial<AlertDraft>) => setDraft((before) => ({ ...before, ...part }))
  const limit = useLimit(draft)
  const { criteria } = useNames()
  const { factor } = unitOf(draft)
  const name = conditionInWords(draft, draft.side, limit === undefined ? null : limit / factor, { criteria })
  const { save, isPending, error } = useSave({ id, onSaved })
  const errors = fieldErrors(error)
  // Without a webhook that was deleted meanwhile.
  const chosen = draft.chosen.filter((one) => offered.some((destination) => destination.id === one))
  const isSent = hasDestination({ ...draft, chosen })
  const isFilled = limit !== undefined && Object.values(draft.added).every((text) => text.trim() !== '')
  const isReady = isFilled && (isSent || draft.showOnly)
  const submit = (isTest: boolean) => {
    if (limit === undefined || !isReady || isPending) return
    save({ rule: { ...ruleOf({ ...draft, chosen }, limit, name), paused }, isTest })
  }
  return (
    <form
      className="cb-beside"
      onSubmit={(event) => {
        // React passes it what a filter's own form submits.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        submit(false)
      }}
    >
      <Stack>
        <Panel title="Watch">
          <Watched draft={draft} onChange={change} />
        </Panel>
        <Panel title="Alert me when">
          <Condition draft={draft} limit={limit} errors={errors} onChange={change} />
        </Panel>
        <Panel title="Notify">
          <DestinationsField
            draft={{ ...draft, chosen }}
            offered={offered}
            errors={errors}
            onChange={change}
          />
        </Panel>
        <TextInput
          label="Name"
          placeholder={name}
          maxLength={200}
          {...inputsOf(draft, change, (fault) => errors[fault])('name')}
        />
        {error && !isShown(errors) && <Problem error={error} />}
        <Group gap="xs" justify="flex-end">
          {isSent && (
            <Button variant="default" disabled={!isReady} loading={isPending} onClick={() => submit(true)}>
              {id ? 'Save and send a test' : 'Create and send a test'}
            </Button>
          )}
          <Button type="submit" disabled={!isReady} loading={isPending}>
            {id ? 'Save' : 'Create alert'}
          </Button>
        </Group>
      </Stack>
      <Preview draft={draft} limit={limit} />
    </form>
  )
}

interface PartProps {
  draft: AlertDraft
  onChange: (change: Partial<AlertDraft>) => void
}

/** The figure, and the calls that it is of. */
function Watched({ draft: { of, show, filters }, onChange }: PartProps) {
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <FigureChoices
          figure={{ of, show }}
          onChange={(figure) => {
            // A limit of another figure means nothing.
            const { filters: _, ...next } = watchedOf({
              of: figure.of ?? of,
              ...(figure.show && { show: figure.show }),
            })
            onChange({ ...next, alert: undefined, warn: '' })
          }}
        />
      </SimpleGrid>
      <CallFilters
        filters={filters}
        faults={faultsOf(filters)}
        foundBy={null}
        omitted={unwatched}
        onChange={(change) => onChange({ filters: readFilters({ ...filters, ...change }) })}
        onClear={() => onChange({ filters: {} })}
      />
    </Stack>
  )
}

interface ConditionProps extends PartProps {
  limit: number | undefined
  errors: Record<string, string>
}

/** The limits, over how long a window, and what is without data. */
function Condition({ draft, limit, errors, onChange }: ConditionProps) {
  const { of, side, alert, windowMinutes, noData, repeatMinutes } = draft
  const field = inputsOf(draft, onChange, (fault) => errors[fault])
  const { factor: _, ...unit } = unitOf(draft)
  const window = [...new Set([...windows, windowMinutes])].sort((a, b) => a - b)
  const repeat = [...new Set([...repeats, ...(repeatMinutes ? [repeatMinutes] : [])])].sort((a, b) => a - b)
  return (
    <Stack>
      <SegmentedControl
        aria-label="Side of the limit"
        value={side}
        data={[
          { value: 'above', label: 'It is above' },
          { value: 'below', label: 'It is below' },
        ]}
        onChange={(next) => onChange({ side: next === 'below' ? 'below' : 'above' })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <NumberInput
          label="Limit"
          description={alert === undefined && limit !== undefined && 'Proposed from the last 30 days'}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          {...unit}
          hideControls
          value={alert ?? limit ?? ''}
          onChange={(next) => next !== limit && onChange({ alert: next })}
          error={errors.alert ?? errors.above}
        />
        <NumberInput label="Warn sooner" placeholder="Never" {...unit} hideControls {...field('warn')} />
        <Select
          label="In the last"
          allowDeselect={false}
          value={String(windowMinutes)}
          data={window.map((minutes) => ({ value: String(minutes), label: minutesInWords(minutes) }))}
          onChange={(next) => onChange({ windowMinutes: Number(next) })}
        />
        <Select
          label="Repeat"
          allowDeselect={false}
          value={String(repeatMinutes ?? '')}
          data={[
            { value: '', label: 'Never' },
            ...repeat.map((minutes) => ({
              value: String(minutes),
              label: `Every ${minutesInWords(minutes)}`,
            })),
          ]}
          onChange={(next) => onChange({ repeatMinutes: next ? Number(next) : null })}
        />
        {of !== 'calls' && (
          <>
            <NumberInput
              label="Minimum number of calls"
              min={1}
              allowDecimal={false}
              hideControls
              {...field('minCalls')}
            />
            <Select
              label="With fewer calls"
              allowDeselect={false}
              value={noData}
              data={withoutData}
              onChange={(next) => onChange({ noData: next === 'ok' || next === 'alert' ? next : 'keep' })}
            />
          </>
        )}
      </SimpleGrid>
    </Stack>
  )
}

/** The limit in the unit in which it is typed: the one that was typed, or one that the last 30 days propose. */
function useLimit(draft: AlertDraft): number | undefined {
  const { of } = useProject()
  const isProposed = draft.alert === undefined
  const rule = previewRule({ ...draft, warn: '' }, unreachableLimit(draft))
  const { data, isPlaceholderData } = useQuery({ ...previewQuery(of, rule), enabled: isProposed })
  if (!isProposed) return numberOf(draft.alert)
  return data && !isPlaceholderData ? proposedLimit(data, draft) : undefined
}

function useSave({ id, onSaved }: Pick<AlertFormProps, 'id' | 'onSaved'>) {
  const { of } = useProject()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { alerts } = of
  const { mutate, isPending, error } = useMutation({
    mutationFn: async ({ rule, isTest }: { rule: AlertChange; isTest: boolean }) => {
      const saved = await unwrap(id ? alerts({ id }).put(rule) : alerts.post(rule))
      // What fails from here on must not look as if nothing were saved: a second try would make a second alert.
      const test = isTest
        ? await unwrap(alerts({ id: saved.id }).test.post({})).then(
            ({ queued }) => describeSent(queued),
            (failure: Error) => `The test message was not sent: ${failure.message}`,
          )
        : ''
      await queryClient.invalidateQueries({ queryKey: read(alerts).queryKey })
      const offered = await queryClient
        .fetchQuery({ ...read(alerts.destinations), staleTime: 0 })
        .catch(() => null)
      return { saved, test, offered }
    },
    onError: () => queryClient.invalidateQueries({ queryKey: pathOf(alerts.destinations) }),
    onSuccess: ({ saved, test, offered }) => {
      const said = id ? 'Saved the alert' : 'Created the alert'
      notifications.show({ message: `${said} “${saved.name}”. ${test}`.trim() })
      if (offered) onSaved?.(saved, offered.data)
      if (!id) void navigate(to.alerts)
    },
  })
  return { save: mutate, isPending, error }
}

/** Whether a field shows the error. */
function isShown(errors: Record<string, string>): boolean {
  return ['alert', 'above', 'warn', 'minCalls', 'name', 'slack', 'pagerDuty'].some((field) => field in errors)
}

const kindLabels: Record<OfferedDestination['kind'], string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  pagerDuty: 'PagerDuty',
}

const addedKinds: Record<AddedKind, { label: string; placeholder: string; icon: ReactNode }> = {
  slack: {
    label: 'Slack’s incoming webhook URL',
    placeholder: 'https://hooks.slack.com/services/…',
    icon: <IconBrandSlack size={14} aria-hidden />,
  },
  pagerDuty: {
    label: 'Integration key of PagerDuty, Events API v2',
    placeholder: '0123456789abcdef…',
    icon: <IconPhoneCall size={14} aria-hidden />,
  },
}

interface DestinationsFieldProps {
  draft: AlertDraft
  offered: readonly OfferedDestination[]
  errors: Record<string, string>
  onChange: (change: Partial<AlertDraft>) => void
}

/** Who is notified: what the project has, by its last four characters, and what is added. */
function DestinationsField({ draft, offered, errors, onChange }: DestinationsFieldProps) {
  const { role } = useProject()
  const { chosen, added } = draft
  const set = (next: AlertDraft['added']) => onChange({ added: { ...added, ...next } })
  const field = inputsOf({ slack: '', pagerDuty: '', ...added }, set, (kind) => errors[kind])
  const remove = (kind: AddedKind) => {
    const { [kind]: _, ...others } = added
    onChange({ added: others })
  }
  return (
    <Stack>
      {offered.length > 0 && (
        <Checkbox.Group
          aria-label="Destinations"
          value={chosen}
          onChange={(ids) => onChange({ chosen: ids })}
        >
          <Stack gap="xs" className="cb-wrap">
            {offered.map(({ id, kind, name }) => (
              <Checkbox
                key={id}
                value={id}
                label={
                  <>
                    {kindLabels[kind]} <span className="cb-mono">{name}</span>
                  </>
                }
              />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      {kinds.map(
        (kind) =>
          added[kind] !== undefined && (
            <Added key={kind} kind={kind} {...field(kind)} onRemove={() => remove(kind)} />
          ),
      )}
      <div className="cb-row">
        {kinds.map(
          (kind) =>
            added[kind] === undefined && (
              <Button
                key={kind}
                variant="default"
                size="xs"
                leftSection={addedKinds[kind].icon}
                onClick={() => set({ [kind]: '' })}
              >
                Add {kindLabels[kind]}
              </Button>
            ),
        )}
        {role === 'owner' && (
          <PageLink {...to.webhooks} size="sm">
            Webhooks
          </PageLink>
        )}
      </div>
      {!hasDestination(draft) && (
        <Checkbox
          label="Only show it here"
          description="Notifies nobody. Needed for an alert without a destination."
          checked={draft.showOnly}
          onChange={(event) => onChange({ showOnly: event.currentTarget.checked })}
        />
      )}
    </Stack>
  )
}

const kinds: readonly AddedKind[] = ['slack', 'pagerDuty']

/** An address or a key that is new. */
function Added({ kind, onRemove, ...input }: TextInputProps & { kind: AddedKind; onRemove: () => void }) {
  const field = useFocus<HTMLInputElement>()
  const { label, placeholder } = addedKinds[kind]
  const remove = `Remove the new destination of ${kindLabels[kind]}`
  return (
    <Group gap={4} align="flex-end" wrap="nowrap">
      <TextInput
        flex={1}
        ref={field}
        label={label}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        maxLength={2_000}
        {...input}
      />
      <IconButton icon={IconX} label={remove} size={32} onClick={onRemove} />
    </Group>
  )
}
