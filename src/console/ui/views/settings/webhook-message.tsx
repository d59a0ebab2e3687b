import { Button, Skeleton } from '@mantine/core'
import { IconSend, IconX } from '@tabler/icons-react'
import type { WebhookAttempt, WebhookMessage } from '../../../../webhooks/deliveries.ts'
import { useAct } from '../../components/acts.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { asBytes } from '../../components/figures.ts'
import { IconButton } from '../../components/icon-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { Mono } from '../../components/mono.tsx'
import { Loaded } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import classes from './webhook-message.module.css'
import { useMessage } from './webhook-queries.ts'
import { AttemptStatus } from './webhook-state.tsx'

interface MessageProps {
  /** The id of the webhook. */
  webhook: string
  attempt: WebhookAttempt
  mayResend: boolean
  onClose: () => void
}

/** One message: each attempt, the answer to the newest failed one, and what would be sent now. */
export function WebhookMessageDetails({ webhook, attempt, mayResend, onClose }: MessageProps) {
  const message = useMessage(webhook, attempt.messageId)
  return (
    <Loaded query={message} what="The delivery" waiting={<Skeleton height={160} />}>
      {(data) => (
        <Panel
          title={<Mono>{attempt.event}</Mono>}
          aside={<IconButton icon={IconX} label="Close the delivery" onClick={onClose} />}
        >
          <div className={classes.message}>
            <Attempts message={data} attempt={attempt} />
            <Answer message={data} />
            <h3>Sent now, it would be</h3>
            <Body message={data} attempt={attempt} />
            <div className="cb-row">
              {data.body && <Resend webhook={webhook} message={attempt.messageId} isReady={mayResend} />}
              {data.callId && <PageLink {...to.call(data.callId)}>Open the call</PageLink>}
            </div>
          </div>
        </Panel>
      )}
    </Loaded>
  )
}

function Attempts({
  message: { attempts, nextAt },
  attempt: { messageId, bytes },
}: {
  message: WebhookMessage
  attempt: WebhookAttempt
}) {
  return (
    <>
      <h3>Attempts</h3>
      <ol className={classes.attempts}>
        {nextAt && (
          <li className="cb-dimmed">
            Next try <Instant at={nextAt} as="coming" />
          </li>
        )}
        {attempts.map((each) => (
          <li key={each.attempt}>
            <span className="cb-figure cb-dimmed">{each.attempt}</span>
            <AttemptStatus attempt={each} />
            <span className="cb-figure cb-dimmed">{each.durationMs} ms</span>
            <Instant at={each.at} as="second" />
          </li>
        ))}
      </ol>
      <p className="cb-dimmed">
        <Mono>{messageId}</Mono> · {asBytes(bytes)}
      </p>
    </>
  )
}

/** How the answer begins, in the endpoint's words. */
function Answer({ message: { attempts } }: { message: WebhookMessage }) {
  const answered = attempts.find(({ answer }) => answer !== null)
  if (!answered) return null
  return (
    <>
      <h3>Answer to attempt {answered.attempt}</h3>
      <pre className={classes.answer} dir="auto">
        {pretty(answered.answer ?? '')}
      </pre>
      <p className="cb-dimmed">The first 2 KiB. Erased with its record, and after 7 days.</p>
    </>
  )
}

function Body({
  message: { body },
  attempt: { isTest, event },
}: {
  message: WebhookMessage
  attempt: WebhookAttempt
}) {
  if (!body) return <p className="cb-dimmed">{whyNoBody(event, isTest)}</p>
  return (
    <div className={classes.body}>
      <CodeBlock code={body.isCut ? `${body.text}…` : pretty(body.text)} label="Copy the body" />
    </div>
  )
}

function whyNoBody(event: string, isTest: boolean): string {
  if (isTest) return 'A test is an example, and is sent once.'
  if (event === 'alert.changed') return 'Nothing: an alert tells of a moment that is over.'
  return 'Nothing: its record is gone, or cannot be found by vector search yet.'
}

/** JSON with its lines; any other text as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // An answer may be anything, and its end may be cut off.
    return text
  }
}

function Resend({ webhook: id, message, isReady }: { webhook: string; message: string; isReady: boolean }) {
  const { of } = useProject()
  const { mutate, isPending, error } = useAct({
    send: () => of.webhooks({ id }).messages({ message }).resend.post({}),
    changes: of.webhooks,
    says: 'The event is being sent again.',
  })
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconSend size={16} />}
        loading={isPending}
        disabled={!isReady}
        onClick={() => mutate(undefined)}
      >
        Resend this one
      </Button>
      {!isReady && <span className="cb-dimmed">Enable the webhook first.</span>}
      {error && <Problem error={error} title="It could not be sent again" />}
    </>
  )
}
