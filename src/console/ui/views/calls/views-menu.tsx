import { Button, Popover, Skeleton } from '@mantine/core'
import { IconBookmark } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { ChosenFilters } from './chosen-filters.ts'

const ViewsList = lazy(() => import('./views-list.tsx'))

/** Saved filters, private or shared with everybody in the project. */
export function ViewsMenu({ filters }: { filters: ChosenFilters }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" trapFocus returnFocus width={280}>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={14} aria-hidden />}
          onClick={() => setIsOpen(!isOpen)}
        >
          Views
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Views">
        <Suspense fallback={<Skeleton height={120} />}>
          <ViewsList filters={filters} onDone={() => setIsOpen(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
