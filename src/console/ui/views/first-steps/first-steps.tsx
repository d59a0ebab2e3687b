import { Button } from '@mantine/core'
import { IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, read, unwrap } from '../../api.ts'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { sessionQuery, useProject } from '../../session.ts'
import { facetsQuery, newestCallQuery } from '../calls/call-queries.ts'
import { knowledgeQuery } from '../overview/overview-queries.ts'
import { FirstCall, useFirstKey } from './first-call.tsx'
import classes from './first-steps.module.css'

const everyMs = 2_000

/** The first steps of a new project. Each shows when it is done; nothing is shown once all are. */
export default function FirstSteps() {
  const { id: project, role, of } = useProject()
  const calls = useQuery({
    ...newestCallQuery(project),
    refetchInterval: untilAny(({ data }) => data.length > 0),
  })
  const items = useQuery({ ...knowledgeQuery(project), refetchInterval: untilAny(({ items }) => items > 0) })
  const hasCall = (calls.data?.data.length ?? 0) > 0
  const facets = useQuery({ ...facetsQuery(project), enabled: hasCall })
  const isKnown = calls.data !== undefined && (!hasCall || facets.data !== undefined)
  const isNamed = (facets.data?.agentId?.length ?? 0) > 0
  // An agent that no call names may still have asked, with a key.
  const asksKeys = role === 'owner' && isKnown && !isNamed
  const keys = useQuery({ ...read(of.keys), enabled: asksKeys })
  if (!isKnown || !items.data || (asksKeys && !keys.data)) return null
  const hasItem = items.data.items > 0
  const asked =
    keys.data?.data.some(({ kind, lastUsedAt }) => kind === 'live' && lastUsedAt !== null) ?? false
  const hasAgent = isNamed || asked
  if (hasCall && hasItem && hasAgent) return null
  return <Steps hasCall={hasCall} hasItem={hasItem} hasAgent={hasAgent} />
}

function Steps({ hasCall, hasItem, hasAgent }: Record<'hasCall' | 'hasItem' | 'hasAgent', boolean>) {
  const { id: project, role } = useProject()
  const isOwner = role === 'owner'
  const key = useFirstKey()
  return (
    <section className={classes.steps} aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      {isOwner && <Example />}
      <ol>
        <Step
          isDone={hasCall}
          title="Send your first call"
          action={
            isOwner ? (
              <Button size="xs" variant={key.hasKey ? 'default' : 'filled'} onClick={key.create}>
                {key.hasKey ? 'Create another ingest key' : 'Create an ingest key'}
              </Button>
            ) : undefined
          }
        >
          Voice platforms send calls with an ingest key. To try it, send a call yourself:
          <FirstCall keyText={key.text} />
          {isOwner && (
            <PageLink to="/p/$project/settings/integrations" params={{ project }} size="sm">
              Or connect a platform
            </PageLink>
          )}
        </Step>
        <Step
          isDone={hasItem}
          title="Add your first knowledge item"
          action={
            <PageButton to="/p/$project/knowledge" params={{ project }} variant="default" size="xs">
              Add knowledge
            </PageButton>
          }
        >
          Write down what your agents should know: prices, opening hours, how to return an order.
        </Step>
        <Step
          isDone={hasAgent}
          title="Connect your first agent"
          action={
            isOwner ? (
              <PageButton
                to="/p/$project/settings/integrations"
                params={{ project }}
                variant="default"
                size="xs"
              >
                View integrations
              </PageButton>
            ) : undefined
          }
        >
          Give an agent a key to search the knowledge, or have its platform name the agent in the calls it
          sends.
        </Step>
      </ol>
    </section>
  )
}

/** Opens the project of examples, which is made the first time. */
function Example() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api.demo.post({})),
    onSuccess: async ({ id: project }) => {
      await queryClient.refetchQueries(sessionQuery)
      await navigate({ to: '/p/$project/overview', params: { project } })
    },
  })
  return (
    <div className={classes.example}>
      <p className="cb-dimmed">
        Or look around first, in a project with a month of calls, sound, knowledge, an alert and reviews.
      </p>
      <Button size="xs" variant="default" loading={isPending} onClick={() => mutate()}>
        Fill with an example
      </Button>
      {error && <Problem error={error} />}
    </div>
  )
}

interface StepProps {
  isDone: boolean
  title: string
  action?: ReactNode
  /** What to do, shown until it is done. */
  children: ReactNode
}

function Step({ isDone, title, action, children }: StepProps) {
  return (
    <li className={classes.step} data-done={isDone || undefined}>
      {isDone ? (
        <IconCircleCheckFilled size={18} aria-hidden />
      ) : (
        <IconCircle size={18} stroke={1.6} aria-hidden />
      )}
      <div>
        <h3>
          {title}
          <span className="cb-hidden">{isDone ? ': done' : ': to do'}</span>
        </h3>
        {!isDone && <div className="cb-dimmed">{children}</div>}
      </div>
      {!isDone && action}
    </li>
  )
}

/** Polls until there is something. */
function untilAny<Data>(isThere: (data: Data) => boolean) {
  return ({ state }: { state: { data?: Data | undefined } }) =>
    state.data !== undefined && isThere(state.data) ? false : everyMs
}
