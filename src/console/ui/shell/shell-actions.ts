import { createContext, useContext } from 'react'

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
