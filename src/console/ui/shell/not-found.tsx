import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '../components/empty.tsx'

/** An address of the console that leads nowhere. */
export function NotFound() {
  return (
    <main className="cb-alone">
      <Empty
        title="There is nothing here"
        action={
          <Button component={Link} to="/" variant="default">
            Go to your projects
          </Button>
        }
      >
        The address is wrong, or what was here is gone, or it is not yours to see.
      </Empty>
    </main>
  )
}
