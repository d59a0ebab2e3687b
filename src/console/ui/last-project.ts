const key = 'callbook-last-project'

/** The project that was open last in this browser, which the next visit opens. */
export const lastProject = {
  read(): string | null {
    try {
      return localStorage.getItem(key)
    } catch {
      // A browser that keeps nothing for this page: the first project is opened.
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
