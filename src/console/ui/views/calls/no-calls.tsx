import { Button } from '@mantine/core'
import { IconPhone } from '@tabler/icons-react'
import { Empty } from '../../components/empty.tsx'
import { useRefusal } from '../../session.ts'
import { FirstCall, useFirstKey } from '../first-steps/first-call.tsx'
import classes from './calls.module.css'

/** Teaches how the first call gets in. */
export default function NoCalls() {
  const isOwner = useRefusal('manage') === null
  const key = useFirstKey()
  return (
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
            ? 'Platforms send calls with an ingest key. Create one and run this command, and the call appears here:'
            : 'Platforms send calls with an ingest key, which an owner of this project can create. With a key, run this:'}
      </p>
      <div className={classes.teach}>
        <FirstCall keyText={key.text} />
      </div>
    </Empty>
  )
}
