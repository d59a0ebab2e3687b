import { useChangeFeed } from '../change-feed.ts'
import { useProject } from '../session.ts'

/** Says quietly that the service cannot be reached, and since when. Keeps what is on the screen up to date. */
export function LostService() {
  const { id } = useProject()
  const lostSince = useChangeFeed(id)
  return (
    <div role="status" className="cb-lost" data-lost={lostSince !== null || undefined}>
      {lostSince && (
        <>
          <span className="cb-lost-dot" aria-hidden />
          No connection. Last updated at{' '}
          {lostSince.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })}
        </>
      )}
    </div>
  )
}
