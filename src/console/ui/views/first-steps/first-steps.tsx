import { Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type LinkProps, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, read } from '../../api.ts'
import { useAct } from '../../components/acts.ts'
import { PageButton, PageLink } from '../../components/links.tsx'
import { Problem } from '../../components/problem.tsx'
import { to } from '../../components/to.ts'
import { sessionQuery, useProject } from '../../session.ts'
import { facetsQuery, newestCallQuery } from '../calls/call-queries.ts'
import { knowledgeQuery } from '../overview/overview-queries.ts'
import { FirstCall, useFirstKey } from './first-call.tsx'
import classes from './first-steps.module.css'

const everyMs = 2_000

/** Where to what a step has made; null until it is done. */
type Made = LinkProps | null

/** The first steps of a new project. Each shows when it is done; nothing is shown once all are. */
export default function FirstSteps() {
  const { id: project, role, of } = useProject()
  const calls = useQuery({
    ...newestCallQuery(project),
    refetchInterval: untilAny(({ data }) => data.length > 0),
  })
  const items = useQuery({ ...knowledgeQuery(project), refetchInterval: untilAny(({ items }) => items > 0) })
  const [call] = calls.data?.data ?? []
  const hasItem = (items.data?.items ?? 0) > 0
  const newestItem = useQuery({ ...read(of.knowledge, { limit: '1' }), enabled: hasItem })
  const facets = useQuery({ ...facetsQuery(project), enabled: call !== undefined })
  const isKnown = calls.data !== undefined && (!call || facets.data !== undefined)
  const agentId = facets.data?.agentId?.[0]?.value
  const ofAgent = useQuery({
    ...read(of.calls, { agentId: agentId ?? '', limit: '1' }),
    enabled: agentId !== undefined,
  })
  // An agent that no call names may still have asked, with a key.
  const asksKeys = role === 'owner' && isKnown && !agentId
  const keys = useQuery({ ...read(of.keys), enabled: asksKeys })
  if (!isKnown || !items.data || (asksKeys && !keys.data)) return null
  const key = keys.data?.data.find(({ kind, lastUsedAt }) => kind === 'live' && lastUsedAt !== null)
  if (call && hasItem && (agentId || key)) return null
  const [item] = newestItem.data?.data ?? []
  const [withAgent = call] = ofAgent.data?.data ?? []
  return (
    <Steps
      call={call ? to.call(call.id) : null}
      item={item ? to.item(item.id) : hasItem ? to.knowledge : null}
      agent={agentId && withAgent ? to.call(withAgent.id) : key ? to.key(key.id) : null}
    />
  )
}

function Steps({ call, item, agent }: Record<'call' | 'item' | 'agent', Made>) {
  const { role } = useProject()
  const isOwner = role === 'owner'
  const key = useFirstKey()
  return (
    <Box component="section" p="md" mb="md" className="cb-box" aria-labelledby="first-steps">
      <Title order={2} id="first-steps">
        First steps
      </Title>
      {isOwner && <Example />}
      <Stack component="ol" gap={0} mt="xs">
        <Step
          made={call}
          title="Send your first call"
          action={
            isOwner && (
              <Button size="xs" variant={key.hasKey ? 'default' : 'filled'} onClick={key.create}>
                {key.hasKey ? 'Create another ingest key' : 'Create an ingest key'}
              </Button>
            )
          }
        >
          Voice platforms send calls with an ingest key. To try it, send a call yourself:
          <Box maw={640} my="xs">
            <FirstCall keyText={key.text} />
          </Box>
          {isOwner && (
            <PageLink {...to.integrations} size="sm">
              Or connect a platform
            </PageLink>
          )}
        </Step>
        <Step
          made={item}
          title="Add your first knowledge item"
          action={
            <PageButton {...to.knowledge} variant="default" size="xs">
              Add knowledge
            </PageButton>
          }
        >
          Write down what your agents should know: prices, opening hours, how to return an order.
        </Step>
        <Step
          made={agent}
          title="Connect your first agent"
          action={
            isOwner && (
              <PageButton {...to.integrations} variant="default" size="xs">
                View integrations
              </PageButton>
            )
          }
        >
          Give an agent a key to search the knowledge, or have its platform name the agent in the calls it
          sends.
        </Step>
      </Stack>
    </Box>
  )
}

/** Opens the project of examples, which is made the first time. */
function Example() {
  const navigate = useNavigate()
  const { mutate, isPending, error } = useAct({
    send: () => api.demo.post({}),
    changes: sessionQuery,
    done: ({ id: project }) => navigate({ to: '/p/$project/overview', params: { project } }),
  })
  return (
    <Group justify="space-between" gap="8px 12px">
      <p className="cb-dimmed">
        Or look around first, in a project with a month of calls, sound, knowledge, an alert and reviews.
      </p>
      <Button size="xs" variant="default" loading={isPending} onClick={() => mutate()}>
        Fill with an example
      </Button>
      {error && <Problem error={error} />}
    </Group>
  )
}

interface StepProps {
  made: Made
  title: string
  action: ReactNode
  /** What to do, shown until it is done. */
  children: ReactNode
}

/** What is done leads to what it has made. */
function Step({ made, title, action, children }: StepProps) {
  const Mark = made ? IconCircleCheckFilled : IconCircle
  const color = made ? 'var(--cb-success-text)' : 'var(--mantine-color-dimmed)'
  return (
    <li className={classes.step}>
      <Mark size={18} stroke={1.6} color={color} aria-hidden />
      <div>
        <Text component="h3" lh="20px" {...(made ? { c: 'dimmed' } : { fw: 600 })}>
          {made ? <PageLink {...made}>{title}</PageLink> : title}
          <span className="cb-hidden">{made ? ': done' : ': to do'}</span>
        </Text>
        {!made && <div className="cb-dimmed">{children}</div>}
      </div>
      {!made && action}
    </li>
  )
}

function untilAny<Data>(isThere: (data: Data) => boolean) {
  return ({ state }: { state: { data?: Data | undefined } }) =>
    state.data !== undefined && isThere(state.data) ? false : everyMs
}
