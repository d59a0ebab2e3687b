/** What the key of shortcuts is called on this machine. */
export function modifierKey(): string {
  return /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl'
}
