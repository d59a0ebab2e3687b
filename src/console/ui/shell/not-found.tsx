import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '../components/empty.tsx'

/** For an unknown address under /console. */
export function NotFound() {
  return (
    <main className="cb-alone">
      <Empty
        title="Page not found"
        action={
          <Button component={Link} to="/" variant="default">
            Go to your projects
          </Button>
        }
      >
        The address is wrong, the page no longer exists, or you do not have access to it.
      </Empty>
    </main>
  )
}
