import { Button, Group, NumberInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useAct } from '../../components/acts.ts'
import { counted } from '../../components/figures.ts'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import classes from './settings.module.css'

/** Sends every record again that has changed since. */
export function WebhookReplay({ id }: { id: string }) {
  const { of } = useProject()
  const [after, setAfter] = useState<string | number>('')
  const { mutate, isPending, error } = useAct({
    send: (seq: number) => of.webhooks({ id }).replay.post({ after: seq }),
    changes: of.webhooks,
    says: ({ queued }) => `${counted(queued, 'record')} will be sent again.`,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (after !== '' && !isPending) mutate(Number(after))
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
