import { Box, Group, Kbd, Stack, Text } from '@mantine/core'
import { pages, settingsPage } from './pages.ts'
import { modifierKey } from './shell-actions.ts'

/** What each shortcut does, and its keys. */
const groups: Record<string, Record<string, string>> = {
  Everywhere: {
    'Search or go to any page': `${modifierKey()} K`,
    "Focus the page's search field": '/',
    'Show these shortcuts': '?',
    'Close the open dialog or panel': 'Esc',
  },
  'Go to': Object.fromEntries(
    [...pages, settingsPage].map(({ key, label }) => [label, `G ${key.toUpperCase()}`]),
  ),
  'In a table': {
    'Next row': 'J',
    'Previous row': 'K',
    'Open the row': 'Enter',
  },
  'In the list of calls': {
    'Select the call': 'X',
  },
  'In an open call': {
    Evaluate: 'E',
    'Add labels': 'L',
    'Add a note': 'N',
    'Show the analysis or the transcript': 'A',
    'Show it as a page, or beside the list': 'F',
    'Show or hide the facts': 'I',
    'Next failed tool': 'T',
    'Next silence': 'Z',
    'Play or pause the recording': 'P',
    'Back 5 seconds': ',',
    'Forward 5 seconds': '.',
  },
  'In a queue of reviews': {
    'Success, and open the next call': 'S',
    'Failed, and open the next call': 'D',
    'Reviewed, and open the next call': 'R',
    'Back to the last call you judged': 'B',
    'Next call without a verdict': 'J',
  },
  'In an open question': {
    'Say that it is answered, or is not': 'A',
    'Dismiss it, or reopen it': 'D',
  },
  'In the analysis of a call': {
    'Next criterion': 'C',
    'Say that it passed, and go on': '1',
    'Say that it failed, and go on': '2',
    'Show the quotation in the transcript': 'Q',
  },
}

/** The list of shortcuts. */
export function Shortcuts() {
  return (
    <Stack gap="md">
      {Object.entries(groups).map(([title, shortcuts]) => (
        <section key={title}>
          <Text component="h3" size="xs" fw={500} c="dimmed" mb={4}>
            {title}
          </Text>
          <Box component="dl" m={0}>
            {Object.entries(shortcuts).map(([does, keys]) => (
              <Group key={does} justify="space-between" h={32}>
                <dt>{does}</dt>
                <Group component="dd" gap={4} m={0}>
                  {keys.split(' ').map((key) => (
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
