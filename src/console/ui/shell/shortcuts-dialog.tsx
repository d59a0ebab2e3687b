import { Kbd, Modal } from '@mantine/core'
import { modifierKey } from './modifier-key.ts'
import { pages, settingsPage } from './pages.ts'

const groups = [
  {
    title: 'Everywhere',
    rows: [
      { keys: [modifierKey(), 'K'], does: 'Search, or go anywhere' },
      { keys: ['/'], does: "Move to the page's search" },
      { keys: ['?'], does: 'Show these keys' },
      { keys: ['Esc'], does: 'Close what is open' },
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
      { keys: ['K'], does: 'Row before' },
      { keys: ['Enter'], does: 'Open the row' },
    ],
  },
]

/** The keys that do something. */
export function ShortcutsDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size={400}>
      <div className="cb-stack">
        {groups.map(({ title, rows }) => (
          <section key={title}>
            <h3 className="cb-dimmed cb-shortcuts-title">{title}</h3>
            <dl className="cb-shortcuts">
              {rows.map(({ keys, does }) => (
                <div key={does}>
                  <dt>{does}</dt>
                  <dd>
                    {keys.map((key) => (
                      <Kbd key={key} size="xs">
                        {key}
                      </Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}
