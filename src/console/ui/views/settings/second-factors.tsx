import { Switch } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Account } from '../../../../access/people/people.ts'
import { api, read, unwrap } from '../../api.ts'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { twoFactorRuleQuery } from './service-queries.ts'
import classes from './settings.module.css'

/** Who has a second factor, and whether everybody needs one. */
export function SecondFactors() {
  const accounts = useQuery(read(api.people))
  const rule = useQuery(twoFactorRuleQuery)
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (isOn: boolean) => unwrap(api.operator['two-factor'].put({ isOn })),
    onSuccess: (next) => queryClient.setQueryData(twoFactorRuleQuery.queryKey, next),
  })
  const failed = [accounts, rule].find((query) => query.error && !query.data)
  return (
    <section className={classes.section}>
      <h2>Second factors</h2>
      {failed && (
        <Problem
          title="The accounts could not be loaded"
          error={failed.error}
          onRetry={() => void failed.refetch()}
        />
      )}
      <Switch
        mb="sm"
        label="Require a second factor of everybody"
        description="Anyone who signs in with a password must have a second factor. Those without one set it up on their next request. People who sign in with the provider are not asked. If you lose yours, whoever runs Callbook ends this with “bun callbook person require-two-factor off”."
        checked={rule.data?.isOn ?? false}
        disabled={!rule.data || isPending}
        onChange={(event) => mutate(event.currentTarget.checked)}
      />
      {error && <Problem error={error} title="The rule was not changed" />}
      <ListTable
        label="Second factors"
        rows={accounts.data?.data}
        rowKey={({ id }) => id}
        expectedRows={3}
        columns={columns}
      />
    </section>
  )
}

const columns: Column<Account>[] = [
  { key: 'name', header: 'Name', render: ({ name }) => <bdi>{name}</bdi> },
  {
    key: 'email',
    header: 'Email address',
    from: 480,
    render: ({ email }) => <span className="cb-dimmed">{email}</span>,
  },
  {
    key: 'factor',
    header: 'Second factor',
    width: '136px',
    render: ({ hasTwoFactor }) =>
      hasTwoFactor ? (
        <StatusBadge tone="success">On</StatusBadge>
      ) : (
        <StatusBadge tone="neutral">None</StatusBadge>
      ),
  },
]
