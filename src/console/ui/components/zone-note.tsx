import { useProject } from '../session.ts'
import { useDates } from './use-dates.ts'

/** Tells the time zone of a page if it is the project's, which may differ from the reader's. */
export function ZoneNote() {
  const { timeZone } = useProject()
  const { zone } = useDates()
  return timeZone === null ? null : <> · Times in {zone}</>
}
