import { useChangeFeed } from '../change-feed.ts'
import { useDates } from '../components/use-dates.ts'
import { useProject } from '../session.ts'

/** Says quietly that the service cannot be reached, and since when. Keeps what is on the screen up to date. */
export function LostService() {
  const { id } = useProject()
  const dates = useDates()
  const lostSince = useChangeFeed(id)
  return (
    <div role="status" className="cb-lost" data-lost={lostSince !== null || undefined}>
      {lostSince && (
        <>
          <span className="cb-lost-dot" aria-hidden />
          No connection. Last news at {dates.second(lostSince.getTime())}
        </>
      )}
    </div>
  )
}
