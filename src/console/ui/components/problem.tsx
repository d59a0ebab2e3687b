import { Button, Group } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiProblem } from '../api.ts'
import { sessionEndedQuery } from '../session.ts'
import { CopyButton, Mono } from './code.tsx'
import { sentenceOf } from './field-errors.ts'
import classes from './problem.module.css'

/** Errors such as not signed in or not found, about which an operator can look up nothing. */
const everydayStatuses = [401, 404, 429]

interface ProblemProps {
  error: unknown
  /** What failed, such as `The calls could not be loaded`. */
  title?: string
  onRetry?: () => void
}

/** What happened, what to do about it, and the request id for the operator. */
export function Problem({ error, title, onRetry }: ProblemProps) {
  const { project } = useParams({ strict: false })
  const { data: hasEnded } = useQuery(sessionEndedQuery)
  // On a project's page it was read under the dialog to sign in again.
  const isOver = project !== undefined && hasEnded === false
  const { detail, requestId, heading } = describe(error, isOver)
  return (
    <div className={classes.problem} role="alert">
      <IconAlertTriangle size={16} aria-hidden />
      <div className={classes.text}>
        <strong>{title ?? heading}</strong>
        {!repeats(title ?? heading, detail) && <p>{detail}</p>}
        {requestId && (
          <Group gap={4} mt={4} wrap="nowrap" fz="xs">
            Request <Mono truncate>{requestId}</Mono>
            <CopyButton value={requestId} label="Copy request ID" />
          </Group>
        )}
      </div>
      {onRetry && (
        <Button variant="default" size="xs" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

function repeats(heading: string, detail: string): boolean {
  return detail.replace(/\.$/, '') === heading
}

function describe(error: unknown, isSignedInAgain: boolean) {
  if (error instanceof ApiProblem && error.code === 'not_signed_in' && isSignedInAgain)
    return {
      heading: 'Your session had ended',
      detail: 'You are signed in again. Try again.',
      requestId: null,
    }
  if (error instanceof ApiProblem) {
    const wait = error.retryAfterSeconds
    const when = wait === null || error.detail.includes(`${wait}`) ? '' : ` Try again in ${wait} s.`
    if (error.fields.length > 0) {
      const sentences = error.fields.map(({ field, message }) => `${sentenceOf(field, message)}.`)
      return { heading: 'Check what you entered', detail: sentences.join(' '), requestId: null }
    }
    const requestId = everydayStatuses.includes(error.status) ? null : error.requestId
    return { heading: error.title, detail: error.detail + when, requestId }
  }
  return {
    heading: 'Something went wrong on this page',
    detail: 'Reload the page. If this happens again, tell whoever runs Callbook what you did.',
    requestId: null,
  }
}

interface WarningProps {
  icon?: ReactNode
  /** `alert` is said at once. */
  role?: 'status' | 'alert'
  children: ReactNode
}

/** What a person should know before they go on. */
export function Warning({ icon, role = 'status', children }: WarningProps) {
  return (
    <div className={classes.warning} role={role}>
      {icon}
      <div>{children}</div>
    </div>
  )
}
