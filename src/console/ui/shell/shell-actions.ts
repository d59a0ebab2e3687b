import { useNavigate } from '@tanstack/react-router'
import { createContext, useContext, useEffect, useEffectEvent, useRef } from 'react'
import { isTyping } from '../components/events.ts'
import { useProject } from '../session.ts'
import { firstSearch, pages, settingsPage } from './pages.ts'

/** Actions that several parts of the shell offer. */
export interface ShellActions {
  openPalette: () => void
  openShortcuts: () => unknown
  openNewProject: () => unknown
}

const nothing = () => undefined

export const ShellActionsContext = createContext<ShellActions>({
  openPalette: nothing,
  openShortcuts: nothing,
  openNewProject: nothing,
})

export function useShellActions(): ShellActions {
  return useContext(ShellActionsContext)
}

const secondKeyWithinMs = 1_000

/** The shell's shortcuts: `g` and a page's letter, `/`, `?`, and that of the palette. */
export function useShortcuts(actions: ShellActions): void {
  const navigate = useNavigate()
  const project = useProject()
  // Kept while the frame is rendered again between two keys.
  const goesUntil = useRef(0)
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const key = event.key.toLowerCase()
    if ((event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && key === 'k') {
      event.preventDefault()
      actions.openPalette()
      return
    }
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event) || isDialogOpen()) return
    const page = [...pages, settingsPage].find((candidate) => candidate.key === key)
    if (page && event.timeStamp < goesUntil.current) {
      event.preventDefault()
      void navigate({ to: page.to, params: { project: project.id }, search: firstSearch(page.to, project) })
    } else if (key === '/') {
      const field = document.querySelector<HTMLElement>('[data-search-field]')
      if (field) event.preventDefault()
      field?.focus()
    } else if (key === '?') {
      actions.openShortcuts()
    }
    goesUntil.current = key === 'g' ? event.timeStamp + secondKeyWithinMs : 0
  })
  useEffect(() => {
    // Before the page's own shortcuts, so that the second key of two is not one of them.
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [])
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="menu"]') !== null
}

/** The name of the shortcut key on this machine. */
export function modifierKey(): string {
  return /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'
}
