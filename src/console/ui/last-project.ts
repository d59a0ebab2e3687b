const key = 'callbook-last-project'

/** The project last open in this browser, which the next visit opens. */
export const lastProject = {
  read(): string | null {
    try {
      return localStorage.getItem(key)
    } catch {
      // The browser blocks storage: open the first project.
      return null
    }
  },
  keep(id: string): void {
    try {
      localStorage.setItem(key, id)
    } catch {
      // As above.
    }
  },
}
