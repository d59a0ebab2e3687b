import { Box, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface PanelProps {
  title?: ReactNode
  /** On the right of the title, which wraps before it. */
  aside?: ReactNode
  children: ReactNode
}

const headLine = { borderBottom: '1px solid var(--cb-border)' }

/** A bordered section of a page with its own title. */
export function Panel({ title, aside, children }: PanelProps) {
  return (
    <Box component="section" miw={0} bg="var(--mantine-color-body)" className="cb-box">
      {(title || aside) && (
        <Group
          component="header"
          justify="space-between"
          wrap="nowrap"
          gap="xs"
          mih={44}
          px="md"
          py={7}
          style={headLine}
        >
          {title && (
            <Text component="h2" fw={600} lh="20px" dir="auto">
              {title}
            </Text>
          )}
          <Group gap="xs" wrap="nowrap" flex="none" ml="auto">
            {aside}
          </Group>
        </Group>
      )}
      <Box p="md">{children}</Box>
    </Box>
  )
}
