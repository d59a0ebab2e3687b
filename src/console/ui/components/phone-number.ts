import { queryOptions, useQuery } from '@tanstack/react-query'

/** Writes a phone number for people: see number-format.ts. */
export type FormatNumber = (number: string) => string

/** What is known of every country's numbers takes 25 kB, so pages do not wait for it. */
const numberFormatQuery = queryOptions({
  queryKey: ['number-format'],
  queryFn: async (): Promise<FormatNumber> => {
    // What is shown is painted first.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    return (await import('./number-format.ts')).formatNumber
  },
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
})

/** Numbers stay as they are until it is known how to write them. */
export function useFormatNumber(): FormatNumber {
  return useQuery(numberFormatQuery).data ?? asItIs
}

function asItIs(number: string): string {
  return number
}
