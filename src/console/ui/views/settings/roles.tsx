import { Switch } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import { Problem } from '../../components/problem.tsx'
import { sessionQuery, useProject } from '../../session.ts'
import { describeRole, roleChoices, roleLabels } from './people.ts'
import classes from './settings.module.css'

/** What each role may do, and whether members may delete. */
export function Roles() {
  const { id: project, membersMayDelete } = useProject()
  const queryClient = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (next: boolean) => {
      await unwrap(api.projects({ project }).settings.put({ membersMayDelete: next }))
      await queryClient.invalidateQueries(sessionQuery)
    },
  })
  return (
    <section className={classes.section}>
      <h2>Roles</h2>
      <dl className={`${classes.facts} ${classes.roles}`}>
        {roleChoices.toReversed().map((role) => (
          <div key={role}>
            <dt>{roleLabels[role]}</dt>
            <dd>{describeRole(role, membersMayDelete)}</dd>
          </div>
        ))}
      </dl>
      <Switch
        size="xs"
        label="Members can delete calls and knowledge"
        description="Owners always can. Deleted records cannot be restored."
        checked={membersMayDelete}
        disabled={isPending}
        onChange={(event) => mutate(event.currentTarget.checked)}
      />
      {error && <Problem error={error} title="The setting was not saved" />}
    </section>
  )
}
