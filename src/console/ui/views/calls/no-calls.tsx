import { Button } from '@mantine/core'
import { IconPhone, IconSearchOff } from '@tabler/icons-react'
import { Empty } from '../../components/empty.tsx'
import { useRefusal } from '../../session.ts'
import { FirstCall, useFirstKey } from '../first-steps/first-call.tsx'

/** Teaches how the first call gets in. */
export function NoCalls() {
  const isOwner = useRefusal('manage') === null
  const key = useFirstKey()
  return (
    <>
      <Empty
        icon={<IconPhone size={24} stroke={1.6} />}
        title="No calls yet"
        action={
          isOwner && (
            <Button variant={key.hasKey ? 'default' : 'filled'} onClick={key.create}>
              {key.hasKey ? 'Create another ingest key' : 'Create an ingest key'}
            </Button>
          )
        }
      >
        <p>
          {key.text
            ? 'Run this command, and the call appears here:'
            : isOwner
              ? 'A platform sends its calls with an ingest key. Create one and run this command, and the call appears here:'
              : 'A platform sends its calls with an ingest key, which an owner of this project can create. With a key, run this:'}
        </p>
        <div className="cb-calls-teach">
          <FirstCall keyText={key.text} />
        </div>
      </Empty>
      {key.dialog}
    </>
  )
}

/** Nothing is left of the calls. @param isFaulty whether a filter cannot be read */
export function NoHits({ isFaulty, onClear }: { isFaulty: boolean; onClear: () => void }) {
  return (
    <Empty
      icon={<IconSearchOff size={24} stroke={1.6} />}
      title="No call matches"
      action={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      {isFaulty
        ? 'The address of this page has a value that cannot be read. Remove it above.'
        : 'No call of this project matches all of these filters. Remove one, or search for fewer words.'}
    </Empty>
  )
}
