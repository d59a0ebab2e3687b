/** Whether a key press belongs to a field or a dialog, so that no shortcut takes it. */
export function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.closest('[role="dialog"], [role="menu"], [role="listbox"]'))
    return true
  // Letters do nothing in them.
  if (target.matches('[type="checkbox"], [type="radio"]')) return key === ' ' || key.startsWith('Arrow')
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}
