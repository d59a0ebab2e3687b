import { ActionIcon, Button, Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { IconBrandSlack, IconPhoneCall, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { PageLink } from '../../components/links.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { type AddedKind, type AlertDraft, hasDestination } from './alert-draft.ts'
import type { OfferedDestination } from './alert-queries.ts'

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
export function DestinationsField({ draft, offered, errors, onChange }: DestinationsFieldProps) {
  const { id: project, role } = useProject()
  const { chosen, added } = draft
  const set = (kind: AddedKind, text: string) => onChange({ added: { ...added, [kind]: text } })
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
      {kinds.map((kind) => {
        const text = added[kind]
        return (
          text !== undefined && (
            <Added
              key={kind}
              kind={kind}
              text={text}
              error={errors[kind]}
              onChange={(next) => set(kind, next)}
              onRemove={() => remove(kind)}
            />
          )
        )
      })}
      <div className="cb-row">
        {kinds.map(
          (kind) =>
            added[kind] === undefined && (
              <Button
                key={kind}
                variant="default"
                size="xs"
                leftSection={addedKinds[kind].icon}
                onClick={() => set(kind, '')}
              >
                Add {kindLabels[kind]}
              </Button>
            ),
        )}
        {role === 'owner' && (
          <PageLink to="/p/$project/settings/webhooks" params={{ project }} size="sm">
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

interface AddedProps {
  kind: AddedKind
  text: string
  error: string | undefined
  onChange: (text: string) => void
  onRemove: () => void
}

/** An address or a key that is new. */
function Added({ kind, text, error, onChange, onRemove }: AddedProps) {
  const field = useFocus<HTMLInputElement>()
  const { label, placeholder } = addedKinds[kind]
  return (
    <Group gap={4} align="flex-end" wrap="nowrap">
      <TextInput
        flex={1}
        ref={field}
        label={label}
        placeholder={placeholder}
        value={text}
        autoComplete="off"
        spellCheck={false}
        maxLength={2_000}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size={32}
        aria-label={`Remove the new destination of ${kindLabels[kind]}`}
        onClick={onRemove}
      >
        <IconX size={14} />
      </ActionIcon>
    </Group>
  )
}
