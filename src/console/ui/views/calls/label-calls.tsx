import { Button, Popover, Skeleton } from '@mantine/core'
import { IconTag } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { CallRow } from '../../../../calls/reading/call-rows.ts'
import { Guarded } from '../../components/guarded.tsx'

const LabelForm = lazy(() => import('./label-form.tsx'))

interface LabelCallsProps {
  ids: string[]
  rows: readonly CallRow[]
}

/** Adds labels to the selected calls, and takes others away. */
export function LabelCalls({ ids, rows }: LabelCallsProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    // Without the roles that it would give to the element around the button.
    <Popover opened={isOpen} onChange={setIsOpen} position="top" trapFocus returnFocus withRoles={false}>
      <Popover.Target>
        <span>
          <Guarded right="change">
            <Button
              size="compact-sm"
              variant="subtle"
              color="gray"
              leftSection={<IconTag size={14} aria-hidden />}
              aria-haspopup="dialog"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              Label
            </Button>
          </Guarded>
        </span>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label="Label selected calls">
        <Suspense fallback={<Skeleton width={252} height={108} />}>
          <LabelForm ids={ids} rows={rows} onDone={() => setIsOpen(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
