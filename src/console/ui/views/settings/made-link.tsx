import { Button, Group, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from '../../components/copy-button.tsx'
import classes from '../../components/shown-once.module.css'
import { useFocus } from '../../components/use-focus.ts'

interface MadeLinkProps {
  link: string
  /** What the link does, for whom and until when. */
  children: ReactNode
  onDone: () => void
}

/** A one-time link, shown this once. */
export function MadeLink({ link, children, onDone }: MadeLinkProps) {
  const field = useFocus<HTMLInputElement>()
  return (
    <div className="cb-stack">
      <p>{children}</p>
      <div className={classes.secretField}>
        <TextInput
          ref={field}
          label="Link"
          value={link}
          readOnly
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={link} label="Copy link" withText />
      </div>
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </div>
  )
}
