// Runs before the first paint, so that the wrong colour scheme never flashes. The block keeps its names off `window`.
{
  const chosen = read() ?? 'auto'
  const prefersDark = window.matchMedia('(prefers-color-scheme: dark)').matches
  const scheme = chosen === 'auto' ? (prefersDark ? 'dark' : 'light') : chosen
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme)

  function read(): string | null {
    try {
      const value = window.localStorage.getItem('callbook-color-scheme')
      return value === 'light' || value === 'dark' ? value : null
    } catch {
      // The browser blocks storage: follow the system.
      return null
    }
  }
}
