import { Button } from '@mantine/core'
import { useState } from 'react'
import { asCount, counted } from './figures.ts'
import classes from './json-tree.module.css'

/** Longer lists begin folded. */
const openUpTo = 40
const entriesShown = 200

interface JsonTreeProps {
  value: unknown
  /** How many levels begin open. */
  depth?: number
}

/** JSON, coloured by kind, whose objects and lists fold. What is folded is not rendered. */
export function JsonTree({ value, depth = 2 }: JsonTreeProps) {
  return (
    <div className={classes.tree}>
      <Node value={value} depth={depth} />
    </div>
  )
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const key = name === undefined ? null : <span className={classes.key}>{name}</span>
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    return (
      <div className={classes.leaf}>
        {key}
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch label={key} value={value} depth={depth} />
}

function Branch({ label, value, depth }: { label: React.ReactNode; value: object; depth: number }) {
  const entries = Object.entries(value)
  const [isOpen, setIsOpen] = useState(depth > 0 && entries.length <= openUpTo)
  const [shown, setShown] = useState(entriesShown)
  const size = Array.isArray(value) ? `[${asCount(entries.length)}]` : counted(entries.length, 'key')
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className={classes.summary}>
        {label}
        <span className={classes.size}>{size}</span>
      </summary>
      {isOpen && (
        <div className={classes.children}>
          {entries.slice(0, shown).map(([key, member]) => (
            <Node key={key} name={key} value={member} depth={depth - 1} />
          ))}
          {entries.length > shown && (
            <Button variant="subtle" size="compact-xs" onClick={() => setShown(shown + entriesShown)}>
              Show more of {asCount(entries.length)}
            </Button>
          )}
        </div>
      )}
    </details>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    return (
      <span data-kind="string" dir="auto" className={classes.value}>
        {value}
      </span>
    )
  }
  const kind = typeof value === 'number' ? 'number' : 'word'
  return (
    <span data-kind={kind} className={classes.value}>
      {JSON.stringify(value)}
    </span>
  )
}
