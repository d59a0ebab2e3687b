import { Button, Textarea } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useBlocker } from '@tanstack/react-router'
import { type PlatformName, setUpOf } from '../../../../sources/catalog.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { addressOf } from './source-queries.ts'

interface MadeSecretProps {
  id: string
  platform: PlatformName
  secret: string
  onStored: () => void
}

/** The address of a source and its new secret, shown this once. */
export function MadeSecret({ id, platform, secret, onStored }: MadeSecretProps) {
  const field = useFocus<HTMLTextAreaElement>()
  const { label, secretName } = setUpOf(platform)
  // Going back or reloading would lose the secret by accident.
  useBlocker({
    shouldBlockFn: ({ current, next }) => next.pathname !== current.pathname,
    enableBeforeUnload: true,
  })
  return (
    <div className="cb-stack">
      <div className="cb-warning" role="status">
        <IconAlertTriangle size={16} aria-hidden />
        <p>
          This is the only time the secret is shown. Give it to {label}: {secretName.toLowerCase()}.
        </p>
      </div>
      <div>
        <p className="cb-label">Address</p>
        <CodeBlock code={addressOf(id)} label="Copy address" wrap />
      </div>
      <div className="cb-made-key">
        <Textarea
          ref={field}
          label="Secret"
          value={secret}
          readOnly
          autosize
          spellCheck={false}
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={secret} label="Copy secret" withText />
      </div>
      <Button onClick={onStored}>I have stored it</Button>
    </div>
  )
}
