import { Button, Group } from '@mantine/core'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { PageLink } from '../../components/links.tsx'

interface TwinChoiceProps {
  project: string
  /** The item that has the same text. */
  twin: Twin
  /** What was to be stored. */
  name: string
  isPending?: boolean
  onReplace: () => void
  onKeep: () => void
}

/** Asks what becomes of a text that an item has already. Nothing is stored until it is answered. */
export function TwinChoice({ project, twin, name, isPending = false, onReplace, onKeep }: TwinChoiceProps) {
  return (
    <>
      <p>
        <strong>
          <PageLink to="/p/$project/knowledge/$item" params={{ project, item: twin.id }} inherit dir="auto">
            {twin.name}
          </PageLink>{' '}
          has this text already.
        </strong>{' '}
        {twin.name === name
          ? 'Replacing it leaves one item with this text.'
          : 'Replacing it gives it this name and description.'}
      </p>
      <Group gap="xs" mt={4}>
        <Button variant="default" size="compact-sm" disabled={isPending} onClick={onReplace}>
          Replace
        </Button>
        <Button variant="default" size="compact-sm" disabled={isPending} onClick={onKeep}>
          Keep both
        </Button>
      </Group>
    </>
  )
}
