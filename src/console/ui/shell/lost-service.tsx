import { useChangeFeed } from '../change-feed.ts'
import { useDates } from '../components/use-dates.ts'
import { useProject } from '../session.ts'
import classes from './lost-service.module.css'

/** Shows that the service cannot be reached, and since when. Its hook also keeps the page up to date. */
export function LostService() {
  const { id } = useProject()
  const dates = useDates()
  const lostSince = useChangeFeed(id)
  return (
    <div role="status" className={classes.lost} data-lost={lostSince !== null || undefined}>
      {lostSince && (
        <>
          <span className={classes.dot} aria-hidden />
          No connection. Last updated at {dates.second(lostSince.getTime())}
        </>
      )}
    </div>
  )
}
