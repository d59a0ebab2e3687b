import { ownPath } from '../../own-path.ts'

const key = 'callbook-detour'

/** What this tab was about before it left for the provider. */
interface Detour {
  /** The page to return to. */
  from: string | undefined
  /** The invitation to accept, as the request has it. */
  invitation: { invitation?: string }
}

/** Kept in the tab, so that neither is told to the provider. */
export const detour = {
  keep(about: { from: string | null; invitation: string }): void {
    try {
      sessionStorage.setItem(key, JSON.stringify(about))
    } catch {
      // The browser blocks storage: whoever signs in begins at their projects.
    }
  },
  read(): Detour {
    try {
      const { from, invitation } = JSON.parse(sessionStorage.getItem(key) ?? '{}')
      return {
        from: ownPath(from) ?? undefined,
        invitation: invitation ? { invitation: String(invitation) } : {},
      }
    } catch {
      // As above.
      return { from: undefined, invitation: {} }
    }
  },
  forget(): void {
    try {
      sessionStorage.removeItem(key)
    } catch {
      // As above.
    }
  },
}
