import { CloseButton, Kbd, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'

const typingPauseMs = 250

interface SearchFieldProps {
  /** Also the placeholder. */
  label: string
  /** The text in the address. */
  text: string
  onSearch: (text: string) => void
}

/**
 * The search field of a page, which `/` focuses. It searches when typing pauses. When the address changes by itself,
 * as after going back, its text replaces what was typed.
 */
export function SearchField({ label, text, onSearch }: SearchFieldProps) {
  const [typed, setTyped] = useState(text)
  const lastSearch = useRef(text)
  useEffect(() => {
    if (text === lastSearch.current) return
    lastSearch.current = text
    setTyped(text)
  }, [text])
  const search = useEffectEvent(onSearch)
  useEffect(() => {
    if (typed.trim() === lastSearch.current) return
    const timer = setTimeout(() => {
      lastSearch.current = typed.trim()
      search(typed.trim())
    }, typingPauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <TextInput
      data-search-field
      flex={{ base: '1 1 100%', xs: '1 1 200px' }}
      maw={{ xs: 320 }}
      type="search"
      aria-label={label}
      placeholder={label}
      maxLength={500}
      value={typed}
      onChange={(event) => setTyped(event.currentTarget.value)}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed ? (
          <CloseButton size="sm" aria-label="Clear search" onClick={() => setTyped('')} />
        ) : (
          <Kbd size="xs" visibleFrom="xs" aria-hidden>
            /
          </Kbd>
        )
      }
    />
  )
}
