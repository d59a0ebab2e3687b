import { createContext, useContext } from 'react'

/** What is asked for from more than one place of the frame. */
export interface ShellActions {
  openPalette: () => void
  openShortcuts: () => void
  openNewProject: () => void
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
