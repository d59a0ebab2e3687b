import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Empty } from '../components/empty.tsx'
import classes from './shell.module.css'

/** For an unknown address under /console. */
export function NotFound() {
  return (
    <main>
      <NothingHere />
    </main>
  )
}

/** The same within the shell, whose main part it fills. */
export function NothingHere() {
  return (
    <div className={classes.alone}>
      <Empty
        isPage
        title="Page not found"
        action={
          <Button component={Link} to="/" variant="default">
            Go to your projects
          </Button>
        }
      >
        The address is wrong, the page no longer exists, or you do not have access to it.
      </Empty>
    </div>
  )
}
