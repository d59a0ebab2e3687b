import { Box, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

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

const iconBox = { placeItems: 'center', border: '1px solid var(--cb-border)', borderRadius: 12 }

/** Takes the place of missing content and says how to get some. */
export function Empty({ icon, title, isPage = false, children, action }: EmptyProps) {
  return (
    <Stack align="center" gap="xs" px="md" py={64} ta="center">
      {icon && (
        <Box
          display="grid"
          w={48}
          h={48}
          mb="xs"
          c="dimmed"
          bg="var(--cb-surface)"
          style={iconBox}
          aria-hidden
        >
          {icon}
        </Box>
      )}
      <Text component={isPage ? 'h1' : 'h2'} size="lg" fw={600} lh="24px">
        {title}
      </Text>
      {children && (
        <Text component="div" c="dimmed" maw={520} mb="xs" style={{ textWrap: 'balance' }}>
          {children}
        </Text>
      )}
      {action}
    </Stack>
  )
}
