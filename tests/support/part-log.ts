interface LoggedFailure {
  error: unknown
}

/** The log of a part under test: passes on each logged failure with its fields. */
export function logTo(onFailure: (error: unknown, fields: LoggedFailure) => void) {
  const take = (fields: LoggedFailure) => onFailure(fields.error, fields)
  return { error: take, warn: take, debug: take }
}

/** For a part that must not fail. */
export const noFailures = logTo((error) => {
  throw error
})
