import { ActionIcon, Button, Checkbox, TextInput } from '@mantine/core'
import { IconBrandSlack, IconPhoneCall, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { PageLink } from '../../components/links.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { type AddedKind, type AlertDraft, hasDestination } from './alert-draft.ts'
import type { OfferedDestination } from './alert-queries.ts'
import classes from './alerts.module.css'

const kindWords: Record<OfferedDestination['kind'], string> = {
  webhook: 'Webhook',
  slack: 'Slack',
  pagerDuty: 'PagerDuty',
}

const addedKinds: Record<AddedKind, { label: string; placeholder: string; icon: ReactNode }> = {
  slack: {
    label: 'Address of an incoming webhook of Slack',
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

/** Who is told: what the project has, by its last four characters, and what is added. */
export function DestinationsField({ draft, offered, errors, onChange }: DestinationsFieldProps) {
  const { id: project, role } = useProject()
  const { chosen, added } = draft
  const set = (kind: AddedKind, text: string) => onChange({ added: { ...added, [kind]: text } })
  const remove = (kind: AddedKind) => {
    const { [kind]: _, ...others } = added
    onChange({ added: others })
  }
  return (
    <div className="cb-stack">
      {offered.length > 0 && (
        <Checkbox.Group
          aria-label="Destinations"
          value={chosen}
          onChange={(ids) => onChange({ chosen: ids })}
        >
          <div className={classes.destinations}>
            {offered.map(({ id, kind, name }) => (
              <Checkbox
                key={id}
                value={id}
                label={
                  <>
                    {kindWords[kind]} <span className="cb-mono">{name}</span>
                  </>
                }
              />
            ))}
          </div>
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
                Add {kindWords[kind]}
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
          description="Nobody is told. Without a destination, an alert is made only so."
          checked={draft.showOnly}
          onChange={(event) => onChange({ showOnly: event.currentTarget.checked })}
        />
      )}
    </div>
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
    <div className={classes.added}>
      <TextInput
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
        aria-label={`Remove the new destination of ${kindWords[kind]}`}
        onClick={onRemove}
      >
        <IconX size={14} />
      </ActionIcon>
    </div>
  )
}
