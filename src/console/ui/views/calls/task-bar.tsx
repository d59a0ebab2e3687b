import { Button, CloseButton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent } from 'react'
import { api, unwrap } from '../../api.ts'
import { asCount, counted } from '../../components/figures.ts'
import { reasonOf } from '../../components/say-not-done.ts'
import { callKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import classes from './calls.module.css'
import { type Task, useTasks } from './use-tasks.ts'

const pollMs = 1_000
/** How long the outcome stays. */
const shownMs = 8_000

/** How far each change of all calls that match is, and for ten seconds the way back. */
export default function TaskBar() {
  const { tasks, end } = useTasks()
  return (
    <div className={classes.tasks}>
      {tasks.map((task) => (
        <Running key={task.set} task={task} onClose={() => end(task.set)} />
      ))}
    </div>
  )
}

function Running({ task: { set, verb, canUndo }, onClose }: { task: Task; onClose: () => void }) {
  const project = useProject()
  const queryClient = useQueryClient()
  const ofSet = api.projects({ project: project.id })['call-sets']({ id: set })
  const { data, error } = useQuery({
    queryKey: callKeys.task(project.id, set),
    queryFn: ({ signal }) => unwrap(ofSet.task.get({ fetch: { signal } })),
    refetchInterval: ({ state }) => (state.data?.state === 'done' ? false : pollMs),
    gcTime: 0,
  })
  const undo = useMutation({ mutationFn: () => unwrap(ofSet.change.delete()), onSuccess: onClose })
  const isDone = data?.state === 'done'
  const finish = useEffectEvent(() => {
    for (const keys of [callKeys.list, callKeys.first, callKeys.facets, callKeys.details])
      void queryClient.invalidateQueries({ queryKey: keys(project.id) })
  })
  const close = useEffectEvent(onClose)
  useEffect(() => {
    if (!isDone) return
    finish()
    const timer = setTimeout(() => close(), shownMs)
    return () => clearTimeout(timer)
  }, [isDone])
  if (!data && !error) return null
  return (
    <section className={classes.selected} aria-label="Change of many calls" data-task>
      <span role="status">
        {undo.error && `${reasonOf(undo.error)} `}
        {error ? 'How far the change is could not be loaded.' : data && sentence(data, verb)}
      </span>
      {canUndo && data?.state === 'waiting' && (
        <Button size="compact-sm" variant="light" loading={undo.isPending} onClick={() => undo.mutate()}>
          Undo
        </Button>
      )}
      <CloseButton size="sm" aria-label="Hide" onClick={onClose} />
    </section>
  )
}

interface Progress {
  state: 'waiting' | 'running' | 'done'
  calls: number
  changed: number
  held: number
  failed: number
}

function sentence({ state, calls, changed, held, failed }: Progress, verb: string): string {
  if (state === 'waiting') return `${counted(calls, 'call')} will be ${verb}`
  if (state === 'running') return `${asCount(changed)} of ${counted(calls, 'call')} ${verb}…`
  const skipped = [
    held > 0 ? `, ${asCount(held)} on hold skipped` : '',
    failed > 0 ? `, ${asCount(failed)} failed` : '',
  ]
  return `${counted(changed, 'call')} ${verb}${skipped.join('')}`
}
