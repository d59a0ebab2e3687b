import { IconBell } from '@tabler/icons-react'
import { PageButton, PageIcon } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import { useRefusal } from '../../session.ts'
import type { ChosenFilters } from '../calls/chosen-filters.ts'
import type { Chart } from '../charts/chart-search.ts'
import { alertSearchOf } from './alert-search.ts'

const label = 'Alert me when …'

interface AlertLinkProps {
  /** What the new alert watches at first. */
  figure: Omit<Chart, 'by'>
  filters?: ChosenFilters
}

/** Leads to a new alert about what a card or a list shows. Not for viewers, who cannot make one. */
export function AlertLink({ figure, filters = {} }: AlertLinkProps) {
  if (useRefusal('change') !== null) return null
  return (
    <PageIcon
      {...to.newAlert}
      search={alertSearchOf(figure, filters)}
      aria-label={label}
      data-hint={label}
      variant="subtle"
      color="gray"
      size={28}
    >
      <IconBell size={14} aria-hidden />
    </PageIcon>
  )
}

/** The same beside other buttons of a page. */
export function AlertButton({ figure, filters = {} }: AlertLinkProps) {
  if (useRefusal('change') !== null) return null
  const icon = <IconBell size={14} aria-hidden />
  return (
    <PageButton {...to.newAlert} search={alertSearchOf(figure, filters)} variant="default" leftSection={icon}>
      {label}
    </PageButton>
  )
}
