/** Whether a write failed because `column` (as `table.column`) must be unique. */
export function isTaken(error: unknown, column: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message.includes(`UNIQUE constraint failed: ${column}`)) return true
  }
  return false
}

/** Whether a write failed because its project was deleted: its row is gone. */
export function lacksProject(message: string): boolean {
  return noProjectPattern.test(message)
}

const noProjectPattern = /NOT NULL constraint failed: (calls\.change_seq|chunks\.item_seq)/
