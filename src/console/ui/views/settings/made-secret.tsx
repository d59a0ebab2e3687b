import { type PlatformName, setUpOf } from '../../../../sources/catalog.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import classes from './settings.module.css'
import { addressOf } from './source-queries.ts'

interface MadeSecretProps {
  id: string
  platform: PlatformName
  secret: string
  onStored: () => void
}

/** The address of a source and its new secret, shown this once. */
export function MadeSecret({ id, platform, secret, onStored }: MadeSecretProps) {
  const { label, secretName } = setUpOf(platform)
  return (
    <ShownOnce
      what="secret"
      text={secret}
      warning={`This is the only time the secret is shown. Give it to ${label}: ${secretName.toLowerCase()}.`}
      before={
        <div>
          <p className={classes.label}>Address</p>
          <CodeBlock code={addressOf({ id, platform })} label="Copy address" />
        </div>
      }
      onStored={onStored}
    />
  )
}
