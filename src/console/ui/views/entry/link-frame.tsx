import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiProblem } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { EntryFrame } from './entry-frame.tsx'

interface LinkFrameProps {
  /** While it is not known whether the link is good, and when it is not. */
  title: string
  error: Error | null
  onRetry: () => void
  /** How many fields the form will have. */
  fields: number
  /** What to do when the link is dead. */
  advice: ReactNode
}

/** Stands for the form of a one-time link until the link is known to be good. */
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
