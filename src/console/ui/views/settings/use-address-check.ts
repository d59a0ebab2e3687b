import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { settingsKeys } from '../../query-keys.ts'

const settledAfterMs = 200

export interface AddressCheckState {
  /** The entries to send, without blank ones. */
  entries: string[]
  /** Messages by the text of the entry. */
  problems: ReadonlyMap<string, string>
  /** Whether the address to test would be allowed; null when that is not known. */
  allows: boolean | null
  /** Whether the result belongs to the current input. */
  isSettled: boolean
  error: Error | null
}

/** Has the service check an allow-list while it is typed, by the rules that it will apply. */
export function useAddressCheck(project: string, written: string[], address: string): AddressCheckState {
  const asked = JSON.stringify([written, address.trim()])
  const [settled] = useDebouncedValue(asked, settledAfterMs)
  const { data, error, isPlaceholderData } = useQuery({
    queryKey: settingsKeys.addressCheck(project, settled),
    queryFn: async ({ signal }) => {
      const [entries, tested] = readAsked(settled)
      const allowedIps = entries.map((entry) => entry.trim()).filter(Boolean)
      const body = { allowedIps, ...(tested ? { address: tested } : {}) }
      const keys = api.projects({ project }).keys
      const { problems, allows } = await unwrap(keys['check-address'].post(body, { fetch: { signal } }))
      const byText = problems.map(({ index, message }): [string, string] => [
        allowedIps[index] ?? '',
        message,
      ])
      return { problems: new Map(byText), allows }
    },
    enabled: written.some((entry) => entry.trim()) || address.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const isSettled = asked === settled && !isPlaceholderData
  const entries = written.map((entry) => entry.trim()).filter(Boolean)
  // Drops the problems of entries that have been corrected or removed.
  const problems = new Map([...(data?.problems ?? [])].filter(([entry]) => entries.includes(entry)))
  return {
    entries,
    problems,
    allows: isSettled && address.trim() ? (data?.allows ?? null) : null,
    isSettled,
    error,
  }
}

function readAsked(text: string): [string[], string] {
  return JSON.parse(text)
}
