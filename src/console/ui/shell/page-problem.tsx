import { Button } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Empty } from '../components/empty.tsx'
import { Problem } from '../components/problem.tsx'
import classes from './shell.module.css'

/** Shown in place of a page that failed as a whole. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  if (isMissingPart(error)) {
    return (
      <div className={classes.alone}>
        <Empty
          title="This page could not be loaded"
          action={<Button onClick={() => location.reload()}>Reload</Button>}
        >
          Callbook was updated since you opened it, or it is not responding.
        </Empty>
      </div>
    )
  }
  const retry = () => {
    reset()
    void router.invalidate()
  }
  return (
    <div className={classes.alone}>
      <Problem error={error} onRetry={retry} />
    </div>
  )
}

/** Whether a script could not be fetched; each browser words this differently. */
function isMissingPart(error: unknown): boolean {
  return error instanceof TypeError && /dynamically imported module|module script/i.test(error.message)
}
