// Runs before the first paint: whoever chose light or dark never sees the other for a moment.

const chosen = read() ?? 'auto'
const prefersDark = window.matchMedia('(prefers-color-scheme: dark)').matches
const scheme = chosen === 'auto' ? (prefersDark ? 'dark' : 'light') : chosen
document.documentElement.setAttribute('data-mantine-color-scheme', scheme)

function read(): string | null {
  try {
    const value = window.localStorage.getItem('callbook-color-scheme')
    return value === 'light' || value === 'dark' ? value : null
  } catch {
    // A browser that keeps nothing for this page: it follows the system.
    return null
  }
}
