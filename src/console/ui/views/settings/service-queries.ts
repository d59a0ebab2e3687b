import { queryOptions } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { personKeys } from '../../query-keys.ts'

/** The service reads its state at most once a minute. */
const readEveryMs = 60_000

export const serviceQuery = queryOptions({
  queryKey: personKeys.service,
  queryFn: ({ signal }) => unwrap(api.operator.get({ fetch: { signal } })),
  refetchInterval: readEveryMs,
})

export const twoFactorRuleQuery = queryOptions({
  queryKey: personKeys.twoFactorRule,
  queryFn: ({ signal }) => unwrap(api.operator['two-factor'].get({ fetch: { signal } })),
})
