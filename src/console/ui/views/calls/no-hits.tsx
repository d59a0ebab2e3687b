import { Button } from '@mantine/core'
import { IconSearchOff } from '@tabler/icons-react'
import { Empty } from '../../components/empty.tsx'

/** Shown when no call matches. @param isFaulty whether a filter cannot be read */
export function NoHits({ isFaulty, onClear }: { isFaulty: boolean; onClear: () => void }) {
  return (
    <Empty
      icon={<IconSearchOff size={24} stroke={1.6} />}
      title="No matching calls"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      {isFaulty
        ? 'This page’s address has a value that cannot be read. Remove it above.'
        : 'No call in this project matches all of these filters. Remove a filter or search for fewer words.'}
    </Empty>
  )
}
