import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './empty.module.css'

interface EmptyProps {
  /** An icon of 24 px. */
  icon?: ReactNode
  title: string
  /** Whether it takes the place of a whole page, with its title. */
  isPage?: boolean
  /** What to do next, and why. */
  children?: ReactNode
  action?: ReactNode
}

/** Takes the place of missing content and says how to get some. */
export function Empty({ icon, title, isPage = false, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" px="md" py={64} ta="center" className={classes.empty}>
      {icon && (
        <div className={classes.icon} aria-hidden>
          {icon}
        </div>
      )}
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children && (
        <Text component="div" c="dimmed" maw={520} mb="xs" style={{ textWrap: 'balance' }}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  )
}
