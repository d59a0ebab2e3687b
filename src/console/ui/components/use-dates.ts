import { createContext, useContext } from 'react'
import { Dates } from './dates.ts'

/** In the time zone of the project whose page this is; outside of one, in the reader's. */
export const DatesContext = createContext(new Dates(null))

export function useDates(): Dates {
  return useContext(DatesContext)
}
