import { IconSearch } from '@tabler/icons-react'
import type { ComponentProps } from 'react'
import classes from './command-palette.module.css'

export interface PaletteFieldProps {
  query: string
  onQuery: (query: string) => void
}

/** The field of the palette, which takes the focus. */
export function PaletteField({ query, onQuery, ...input }: PaletteFieldProps & ComponentProps<'input'>) {
  return (
    <div className={classes.search}>
      <IconSearch size={16} aria-hidden />
      <input
        ref={focusIt}
        role="combobox"
        aria-label="Search commands"
        // There is nothing to control until the commands are loaded.
        aria-expanded={input['aria-controls'] !== undefined}
        aria-autocomplete="list"
        placeholder="Find a page, call, item, view or person"
        autoComplete="off"
        dir="auto"
        spellCheck={false}
        maxLength={500}
        value={query}
        onChange={(event) => onQuery(event.currentTarget.value)}
        {...input}
      />
    </div>
  )
}

function focusIt(field: HTMLElement | null): void {
  field?.focus()
}
