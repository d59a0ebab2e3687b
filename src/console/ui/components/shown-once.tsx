import { Button, Group, Stack, Textarea, TextInput } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { CopyButton } from './code.tsx'
import { useShow } from './dialogs.tsx'
import { Warning } from './problem.tsx'
import { useFocus } from './use-focus.ts'

interface ShownOnceProps {
  what: 'key' | 'secret'
  text: string
  /** The warning that it is shown only once, and what it is for. */
  warning: ReactNode
  /** Between the warning and the text. */
  before?: ReactNode
  /** How to use it. */
  children?: ReactNode
  onStored: () => void
}

/** A key or a secret in full. Asks before the page is left, since nothing shows it again. */
export function ShownOnce({ what, text, warning, before, children, onStored }: ShownOnceProps) {
  const field = useFocus<HTMLTextAreaElement>()
  // Going back or reloading would lose it by accident. Closing the dialog stays on the page.
  useBlocker({
    shouldBlockFn: ({ current, next }) => next.pathname !== current.pathname,
    enableBeforeUnload: true,
  })
  return (
    <div className="cb-stack">
      <Warning icon={<IconAlertTriangle size={16} aria-hidden />}>{warning}</Warning>
      {before}
      <Stack align="flex-start" gap="xs">
        <Textarea
          w="100%"
          ref={field}
          label={what === 'key' ? 'Key' : 'Secret'}
          value={text}
          readOnly
          autosize
          spellCheck={false}
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={text} label={`Copy ${what}`} withText />
      </Stack>
      {children}
      <Button onClick={onStored}>I have stored it</Button>
    </div>
  )
}

/** Shows a one-time link, this once; `says` what it does, for whom and until when. */
export function useShowLink() {
  const show = useShow()
  return (link: string, says: ReactNode) =>
    show({
      title: 'Send this link',
      size: 480,
      isKept: true,
      content: (close) => <MadeLink link={link} says={says} onDone={close} />,
    })
}

function MadeLink({ link, says, onDone }: { link: string; says: ReactNode; onDone: () => void }) {
  const field = useFocus<HTMLInputElement>()
  return (
    <div className="cb-stack">
      <p>{says}</p>
      <Stack align="flex-start" gap="xs">
        <TextInput
          w="100%"
          ref={field}
          label="Link"
          value={link}
          readOnly
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={link} label="Copy link" withText />
      </Stack>
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </div>
  )
}
