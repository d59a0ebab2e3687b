import { Box, Group, Kbd, Stack, Text } from '@mantine/core'
import { pages, settingsPage } from './pages.ts'
import { modifierKey } from './use-shortcuts.ts'

const groups = [
  {
    title: 'Everywhere',
    rows: [
      { keys: [modifierKey(), 'K'], does: 'Search or go to any page' },
      { keys: ['/'], does: "Focus the page's search field" },
      { keys: ['?'], does: 'Show these shortcuts' },
      { keys: ['Esc'], does: 'Close the open dialog or panel' },
    ],
  },
  {
    title: 'Go to',
    rows: [...pages, settingsPage].map(({ key, label }) => ({
      keys: ['G', key.toUpperCase()],
      does: label,
    })),
  },
  {
    title: 'In a table',
    rows: [
      { keys: ['J'], does: 'Next row' },
      { keys: ['K'], does: 'Previous row' },
      { keys: ['Enter'], does: 'Open the row' },
    ],
  },
  {
    title: 'In the list of calls',
    rows: [{ keys: ['X'], does: 'Select the call' }],
  },
  {
    title: 'In an open call',
    rows: [
      { keys: ['E'], does: 'Evaluate' },
      { keys: ['L'], does: 'Add labels' },
      { keys: ['N'], does: 'Add a note' },
      { keys: ['A'], does: 'Show the analysis or the transcript' },
      { keys: ['F'], does: 'Show it as a page, or beside the list' },
      { keys: ['I'], does: 'Show or hide the facts' },
      { keys: ['T'], does: 'Next failed tool' },
      { keys: ['Z'], does: 'Next silence' },
      { keys: ['P'], does: 'Play or pause the recording' },
      { keys: [','], does: 'Back 5 seconds' },
      { keys: ['.'], does: 'Forward 5 seconds' },
    ],
  },
  {
    title: 'In a queue of reviews',
    rows: [
      { keys: ['S'], does: 'Success, and open the next call' },
      { keys: ['D'], does: 'Failed, and open the next call' },
      { keys: ['R'], does: 'Reviewed, and open the next call' },
      { keys: ['B'], does: 'Back to the last call you judged' },
      { keys: ['J'], does: 'Next call without a verdict' },
    ],
  },
  {
    title: 'In an open question',
    rows: [
      { keys: ['A'], does: 'Say that it is answered, or is not' },
      { keys: ['D'], does: 'Dismiss it, or reopen it' },
    ],
  },
  {
    title: 'In the analysis of a call',
    rows: [
      { keys: ['C'], does: 'Next criterion' },
      { keys: ['1'], does: 'Say that it passed, and go on' },
      { keys: ['2'], does: 'Say that it failed, and go on' },
      { keys: ['Q'], does: 'Show the quotation in the transcript' },
    ],
  },
]

/** The list of shortcuts. */
export function Shortcuts() {
  return (
    <Stack gap="md">
      {groups.map(({ title, rows }) => (
        <section key={title}>
          <Text component="h3" size="xs" fw={500} c="dimmed" mb={4}>
            {title}
          </Text>
          <Box component="dl" m={0}>
            {rows.map(({ keys, does }) => (
              <Group key={does} justify="space-between" h={32}>
                <dt>{does}</dt>
                <Group component="dd" gap={4} m={0}>
                  {keys.map((key) => (
                    <Kbd key={key} size="xs">
                      {key}
                    </Kbd>
                  ))}
                </Group>
              </Group>
            ))}
          </Box>
        </section>
      ))}
    </Stack>
  )
}
