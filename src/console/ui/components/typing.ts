/** Whether a key press belongs to a field or a dialog, so that no shortcut takes it. */
export function isTyping({ target }: Event): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.closest('[role="dialog"], [role="menu"], [role="listbox"]'))
    return true
  return /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
}
