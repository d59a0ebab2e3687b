import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiProblem } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { EntryFrame } from './entry-frame.tsx'

interface LinkFrameProps {
  /** While the link is being checked, and when it does not work. */
  title: string
  error: Error | null
  onRetry: () => void
  /** How many fields the form will have. */
  fields: number
  /** What to do when the link does not work. */
  advice: ReactNode
}

/** Takes the place of a one-time link's form until the link has been checked. */
export function LinkFrame({ title, error, onRetry, fields, advice }: LinkFrameProps) {
  const isDead = error instanceof ApiProblem && error.status >= 400 && error.status < 429
  const footer = (
    <>
      {advice} <Link to="/sign-in">Sign in</Link>
    </>
  )
  return (
    <EntryFrame title={title} footer={error ? footer : undefined}>
      {error ? (
        <Problem error={error} {...(isDead ? { title: 'This link does not work' } : { onRetry })} />
      ) : (
        <div className="cb-stack" aria-busy>
          {Array.from({ length: fields }, (_, at) => String(at)).map((at) => (
            <Skeleton key={at} height={56} />
          ))}
          <Skeleton height={32} />
        </div>
      )}
    </EntryFrame>
  )
}
