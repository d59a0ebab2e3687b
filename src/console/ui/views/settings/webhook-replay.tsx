import { Button, Group, NumberInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconCheck } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { counted } from '../../components/figures.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import classes from './settings.module.css'
import { webhooksQuery } from './webhook-queries.ts'

/** Sends every record again that has changed since. */
export function WebhookReplay({ id }: { id: string }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [after, setAfter] = useState<string | number>('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      unwrap(
        api
          .projects({ project })
          .webhooks({ id })
          .replay.post({ after: Number(after) }),
      ),
    onSuccess: async ({ queued }) => {
      notifications.show({
        message: `${counted(queued, 'record')} will be sent again.`,
        icon: <IconCheck size={16} />,
      })
      await queryClient.invalidateQueries(webhooksQuery(project))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (after !== '' && !isPending) mutate()
  }
  return (
    <section className={classes.section}>
      <Panel title="Replay">
        <form onSubmit={submit} className="cb-stack">
          <Group gap="xs" align="flex-end">
            <NumberInput
              label="Send again after change"
              description="Sends each record that changed later once, in its current state. The change number of an event is its data.seq; 0 sends everything."
              placeholder="Change number"
              value={after}
              onChange={setAfter}
              min={0}
              allowDecimal={false}
              hideControls
              className={classes.webhookAfter}
            />
            <Button type="submit" variant="default" disabled={after === ''} loading={isPending}>
              Replay
            </Button>
          </Group>
          {error && <Problem error={error} />}
        </form>
      </Panel>
    </section>
  )
}
