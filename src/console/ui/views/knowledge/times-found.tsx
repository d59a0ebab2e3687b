import { useQuery } from '@tanstack/react-query'
import { timesFoundQuery } from './queries.ts'

/** The service counts this many items, the most often found first. */
const countedMax = 200

/** How often agents found each item; null where the project keeps no questions, and until it is known. */
export function useTimesFound(project: string) {
  const found = useQuery(timesFoundQuery(project)).data?.data
  if (!found) return null
  const counts = new Map(found.items.map(({ id, count }) => [id, count]))
  const isWhole = counts.size < countedMax
  return { days: found.days, of: (id: string) => counts.get(id) ?? (isWhole ? 0 : null) }
}

/** What the column counts. */
export function TimesFoundNote({ days }: { days: number }) {
  return (
    <p className="cb-dimmed">
      “Found” counts the questions that agents asked in the last {days} days and whose first passage was from
      the item. Searches in this console do not count.
    </p>
  )
}
