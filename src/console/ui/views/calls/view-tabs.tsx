import { Menu, TextInput, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconUsers } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { useFocus } from '../../components/use-focus.ts'
import classes from './calls.module.css'
import { type ChosenFilters, filterKey } from './chosen-filters.ts'
import { savedFilters, useViewChanges } from './view-queries.ts'

const nameCharsMax = 100

/** All calls, and each saved view. The menu of the current one renames, moves and deletes it, or makes it the default. */
export default function ViewTabs({ filters }: { filters: ChosenFilters }) {
  const { views, change, error } = useViewChanges()
  const [edited, setEdited] = useState<string | null>(null)
  const now = filterKey(filters)
  const current = views.find(({ query }) => filterKey(savedFilters(query)) === now)
  return (
    <>
      <nav aria-label="Views" className={classes.tabs}>
        <Tab search={{}} isCurrent={now === filterKey({})} label="All calls" />
        {views.map((view, at) =>
          view.id === edited ? (
            <Rename
              key={view.id}
              name={view.name}
              onDone={(name) => {
                const close = () => setEdited((id) => (id === view.id ? null : id))
                if (!name || name === view.name) close()
                else change({ kind: 'rename', id: view.id, name }, { onSuccess: close })
              }}
            />
          ) : (
            <span key={view.id} className={classes.tab} data-current={view === current || undefined}>
              <Tab
                search={savedFilters(view.query)}
                isCurrent={view === current}
                label={view.name}
                isShared={view.isShared}
              />
              {view === current && (
                <Menu position="bottom-start" width={200}>
                  <Menu.Target>
                    <UnstyledButton className={classes.tabMore} aria-label={`Change the view ${view.name}`}>
                      <IconChevronDown size={14} />
                    </UnstyledButton>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {view.canChange && <Menu.Item onClick={() => setEdited(view.id)}>Rename</Menu.Item>}
                    <Menu.Item onClick={() => change({ kind: 'first', id: view.isFirst ? null : view.id })}>
                      {view.isFirst ? 'Remove as default' : 'Make default'}
                    </Menu.Item>
                    {([-1, 1] as const).map((by) => (
                      <Menu.Item
                        key={by}
                        disabled={!views[at + by]}
                        onClick={() => change({ kind: 'move', id: view.id, by })}
                      >
                        Move {by < 0 ? 'left' : 'right'}
                      </Menu.Item>
                    ))}
                    {view.canChange && (
                      <Menu.Item
                        color="var(--cb-danger-text)"
                        onClick={() => change({ kind: 'delete', id: view.id })}
                      >
                        Delete view
                      </Menu.Item>
                    )}
                  </Menu.Dropdown>
                </Menu>
              )}
            </span>
          ),
        )}
      </nav>
      {error && <Problem error={error} />}
    </>
  )
}

interface TabProps {
  search: ChosenFilters
  isCurrent: boolean
  label: string
  isShared?: boolean
}

function Tab({ search, isCurrent, label, isShared = false }: TabProps) {
  return (
    <Link
      {...to.calls}
      search={search}
      className={classes.tabLink}
      activeOptions={{ exact: true }}
      aria-current={isCurrent ? 'page' : undefined}
      data-current={isCurrent || undefined}
    >
      <span className="cb-truncate" dir="auto">
        {label}
      </span>
      {isShared && <IconUsers size={12} role="img" aria-label="Shared with the project" />}
    </Link>
  )
}

/** The name of a view, while it is written. Escape leaves it as it was. */
function Rename({ name, onDone }: { name: string; onDone: (name: string) => void }) {
  const [text, setText] = useState(name)
  const field = useFocus<HTMLInputElement>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onDone(text.trim())
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        size="xs"
        aria-label="Name of the view"
        ref={field}
        maxLength={nameCharsMax}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => onDone(text.trim())}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onDone(name)
        }}
      />
    </form>
  )
}
