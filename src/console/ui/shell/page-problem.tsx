import { Box, Button } from '@mantine/core'
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router'
import { useEffect, useEffectEvent } from 'react'
import { ApiProblem } from '../api.ts'
import { Empty } from '../components/empty.tsx'
import { Problem } from '../components/problem.tsx'

const triedEveryMs = 5_000
const alone = { maw: 560, mx: 'auto', mt: '16vh', px: 'md' }

/** Shown in place of a page that failed as a whole, until the service is back. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  const isMissing = isMissingPart(error)
  const isAway = error instanceof ApiProblem && error.status === 0
  useReturn(isMissing || isAway, isMissing ? () => location.reload() : retry)
  if (isMissing) {
    return (
      <Box {...alone}>
        <Empty
          title="This page could not be loaded"
          action={<Button onClick={() => location.reload()}>Reload</Button>}
        >
          Callbook was updated since you opened it, or it is not responding.
        </Empty>
      </Box>
    )
  }
  return (
    <Box {...alone}>
      <Problem error={error} onRetry={retry} />
    </Box>
  )
}

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
    <Box {...alone}>
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
    </Box>
  )
}

/** Calls `onReturn` when the service answers again after it did not. */
function useReturn(isOn: boolean, onReturn: () => void): void {
  const returned = useEffectEvent(onReturn)
  useEffect(() => {
    if (!isOn) return
    let wasAway = false
    const ask = async () => {
      const answer = await fetch('/health').catch(() => null)
      // Otherwise a file that is gone for good would reload the page for ever.
      if (answer?.ok && wasAway) returned()
      wasAway ||= !answer?.ok
    }
    void ask()
    const timer = setInterval(() => void ask(), triedEveryMs)
    return () => clearInterval(timer)
  }, [isOn])
}

/** Whether a script could not be fetched; each browser words this differently. */
function isMissingPart(error: unknown): boolean {
  return error instanceof TypeError && /dynamically imported module|module script/i.test(error.message)
}
