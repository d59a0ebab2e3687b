import { ShownOnce } from '../../components/shown-once.tsx'
import classes from './settings.module.css'

interface WebhookSecretProps {
  secret: string
  /** What happens to the secret before it, in a sentence. */
  note?: string
  onStored: () => void
}

/** A webhook's new secret, shown this once. */
export function WebhookSecret({ secret, note, onStored }: WebhookSecretProps) {
  return (
    <ShownOnce
      what="secret"
      text={secret}
      warning={
        <>This is the only time the secret is shown. Your endpoint uses it to verify each event. {note}</>
      }
      onStored={onStored}
    >
      <p className={classes.fieldHint}>
        Events are signed as Standard Webhooks specifies.{' '}
        <a href="/docs/guide/webhooks#verify-it" target="_blank" rel="noreferrer">
          How to verify events
        </a>
      </p>
    </ShownOnce>
  )
}
