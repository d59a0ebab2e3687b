import { createContext, useContext } from 'react'
import { Dates } from './dates.ts'

/** Dates in the project's time zone; outside a project, in the reader's. */
export const DatesContext = createContext(new Dates(null))

export function useDates(): Dates {
  return useContext(DatesContext)
}
