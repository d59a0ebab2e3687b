import { useProject } from '../session.ts'
import { useDates } from './use-dates.ts'

/** Says which time zone a page shows when it is the project's, which need not be the reader's. */
export function ZoneNote() {
  const { timeZone } = useProject()
  const { zone } = useDates()
  return timeZone === null ? null : <> · Times in {zone}</>
}
