import { Skeleton } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import classes from './page.module.css'
import { PageHeader } from './page-header.tsx'
import { Problem } from './problem.tsx'

/** A page below its title. */
export function Page({ children, ...header }: ComponentProps<typeof PageHeader> & { children: ReactNode }) {
  return (
    <>
      <PageHeader {...header} />
      {children}
    </>
  )
}

interface SectionProps {
  title: string
  description?: ReactNode
  children: ReactNode
}

/** A part of a page below a title of its own. */
export function Section({ title, description, children }: SectionProps) {
  return (
    <section className={classes.section}>
      <h2>{title}</h2>
      {description && <p className="cb-dimmed">{description}</p>}
      {children}
    </section>
  )
}

interface LoadedProps<Data> {
  query: UseQueryResult<Data>
  /** Such as `The keys`. */
  what: string
  /** Shown meanwhile. */
  waiting?: ReactNode
  children: (data: Data) => ReactNode
}

/** What a query answers; until then a skeleton, or why it failed. */
export function Loaded<Data>({
  query,
  what,
  waiting = <Skeleton height={240} />,
  children,
}: LoadedProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return <>{children(data)}</>
  if (!error) return <>{waiting}</>
  return <Problem error={error} title={`${what} could not be loaded`} onRetry={() => void refetch()} />
}

/** Names, and what they stand for; without a value for one, it is left out. Wide ones stand side by side. */
export function Facts({ of, isWide = false }: { of: Record<string, ReactNode>; isWide?: boolean }) {
  return (
    <dl className={classes.facts} data-wide={isWide || undefined}>
      {Object.entries(of).map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
