import { Button, Checkbox, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { CreatedWebhook } from '../../../../webhooks/webhooks.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Problem } from '../../components/problem.tsx'
import { SecretModal } from '../../components/shown-once.tsx'
import { useProject } from '../../session.ts'
import classes from './settings.module.css'
import { useSecretRequest } from './use-secret-request.ts'
import { allEvents, webhooksQuery } from './webhook-queries.ts'
import { WebhookSecret } from './webhook-secret.tsx'

interface NewWebhookDialogProps {
  opened: boolean
  onClose: () => void
}

/** Creates a webhook and shows its secret once. The secret is only in this dialog's state. */
export function NewWebhookDialog({ opened, onClose }: NewWebhookDialogProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [made, setMade] = useState<CreatedWebhook | null>(null)
  // One dialog for both steps gives the focus back to the button that opened it.
  return (
    <SecretModal
      isMade={made !== null}
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setMade(null)}
      title={made ? 'Save the secret' : 'Create webhook'}
    >
      {made ? (
        <WebhookSecret secret={made.secret} onStored={onClose} />
      ) : (
        opened && (
          <NewWebhookForm
            onCancel={onClose}
            onMade={(webhook) => {
              setMade(webhook)
              void queryClient.invalidateQueries(webhooksQuery(project))
            }}
          />
        )
      )}
    </SecretModal>
  )
}

const every: string[] = allEvents.map(([event]) => event)

interface NewWebhookFormProps {
  onCancel: () => void
  onMade: (webhook: CreatedWebhook) => void
}

function NewWebhookForm({ onCancel, onMade }: NewWebhookFormProps) {
  const { id: project } = useProject()
  const [url, setUrl] = useState('')
  const [chosen, setChosen] = useState(every)
  const [details, setDetails] = useState(false)
  const isReady = url.trim() !== '' && chosen.length > 0
  const { request, isPending, error } = useSecretRequest(async () =>
    onMade(
      await unwrap(api.projects({ project }).webhooks.post({ url: url.trim(), events: chosen, details })),
    ),
  )
  const errors = fieldErrors(error)
  return (
    <ActionForm
      label="Create webhook"
      isReady={isReady}
      isPending={isPending}
      onSubmit={request}
      onCancel={onCancel}
      noValidate
    >
      <TextInput
        label="URL"
        description="Callbook posts events to this HTTPS address. It must be public."
        placeholder="https://example.com/callbook"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        error={errors.url}
        data-autofocus
      />
      <Checkbox.Group label="Events" value={chosen} onChange={setChosen} error={errors.events}>
        <div className={classes.webhookEvents}>
          <Button
            variant="default"
            size="compact-xs"
            className={classes.webhookAllEvents}
            onClick={() => setChosen(chosen.length === 0 ? every : [])}
          >
            {chosen.length === 0 ? 'Choose all' : 'Clear all'}
          </Button>
          {allEvents.map(([event, words]) => (
            <Checkbox
              key={event}
              value={event}
              size="xs"
              label={<span className="cb-mono">{event}</span>}
              description={words}
            />
          ))}
        </div>
      </Checkbox.Group>
      <Checkbox
        size="xs"
        label="Send calls with their details"
        description="Agent, cost, tool calls, review and metadata"
        checked={details}
        onChange={(event) => setDetails(event.currentTarget.checked)}
      />
      {error !== null && !isAboutFields(error, ['url', 'events']) && <Problem error={error} />}
    </ActionForm>
  )
}
