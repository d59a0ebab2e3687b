import { Box, Group, Skeleton, Text } from '@mantine/core'
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
  /** On the right of the title. */
  aside?: ReactNode
  description?: ReactNode
  children: ReactNode
}

/** A part of a page below a title of its own. */
export function Section({ title, aside, description, children }: SectionProps) {
  return (
    <Box component="section" mt="xl">
      <Group component="header" justify="space-between" wrap="nowrap" gap="sm" mb="xs">
        <Text component="h2" fz={14} fw={600} lh="20px">
          {title}
        </Text>
        {aside}
      </Group>
      {description && (
        <Text c="dimmed" mb="xs">
          {description}
        </Text>
      )}
      {children}
    </Box>
  )
}

interface LabelledProps {
  label: string
  hint?: ReactNode
  /** The id of the label. */
  id?: string
  children: ReactNode
}

/** What is no field, below a label as fields have it. */
export function Labelled({ label, hint, id, children }: LabelledProps) {
  return (
    <div>
      <Text fw={500} mb={4} id={id}>
        {label}
      </Text>
      {hint && (
        <Text size="xs" c="dimmed" mb="xs">
          {hint}
        </Text>
      )}
      {children}
    </div>
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

interface FactsProps {
  of: Record<string, ReactNode>
  /** Whether they stand side by side, in columns or each below its name. */
  isWide?: boolean
  isRow?: boolean
}

/** Names, and what they stand for; without a value for one, it is left out. */
export function Facts({ of, isWide = false, isRow = false }: FactsProps) {
  return (
    <dl className={classes.facts} data-wide={isWide || undefined} data-row={isRow || undefined}>
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
