interface LoggedFailure {
  error: unknown
}

/** The log of a part under test: hands on each failure that the part tells it of, with the fields it was told with. */
export function logTo(onFailure: (error: unknown, fields: LoggedFailure) => void) {
  const take = (fields: LoggedFailure) => onFailure(fields.error, fields)
  return { error: take, warn: take, debug: take }
}

/** For a part that must not fail. */
export const noFailures = logTo((error) => {
  throw error
})
