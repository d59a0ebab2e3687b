import { type KeyboardEvent, lazy, type MouseEvent, Suspense, useState } from 'react'
import classes from './command-palette.module.css'
import { PaletteField } from './palette-field.tsx'

export const loadCommands = () => import('./palette-commands.tsx')
const Commands = lazy(loadCommands)

/**
 * Goes to a page, a call or a project, and offers actions that have no button on every page. It does without the
 * component library's dialog, so that its field is there at once; its commands are loaded soon after the page.
 */
export function CommandPalette({ onClose }: { onClose: () => void }) {
  const [query, setQuery] = useState('')
  const field = { query, onQuery: setQuery }
  const onClick = ({ target, currentTarget }: MouseEvent) => target === currentTarget && onClose()
  const onKeyDown = (event: KeyboardEvent) => {
    // The focus stays in the field, the only control.
    if (event.key === 'Tab') event.preventDefault()
    if (event.key !== 'Escape') return
    event.stopPropagation()
    onClose()
  }
  return (
    <div
      role="dialog"
      aria-modal
      aria-label="Commands"
      className={classes.overlay}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <div className={classes.palette}>
        <Suspense fallback={<PaletteField {...field} />}>
          <Commands {...field} onClose={onClose} />
        </Suspense>
      </div>
    </div>
  )
}
