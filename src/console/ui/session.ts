import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Person } from '../../access/people/credentials.ts'
import type { ProjectOfPerson, SessionAnswer } from '../../access/people/session-answer.ts'
import { mayDo, type Right } from '../../identity.ts'
import { api, unwrap } from './api.ts'
import { inBrowser } from './storage.ts'

const freshForMs = 60_000
const replacedWithinMs = 1_000
const lastProjectKey = 'callbook-last-project'

/** The signed-in person and their projects. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ client, signal }) => {
    const before = client.getQueryData<SessionAnswer>(['session'])
    const ask = () => unwrap(api.session.get({ fetch: { signal } }))
    let now = await ask()
    if (!before?.person) return now
    // As in query-client.ts: a request under way may be replacing the session.
    if (!now.person) {
      await new Promise((resolve) => setTimeout(resolve, replacedWithinMs))
      now = await ask()
    }
    if (now.person && now.person.id !== before.person.id) {
      // Somebody else has signed in, in another tab: they must not see or send what this page holds.
      location.reload()
      return before
    }
    // The page stays as it is until the person signs in again.
    client.setQueryData(sessionEndedQuery.queryKey, now.person === null)
    return now.person ? now : before
  },
  staleTime: freshForMs,
  // Another tab may have changed who is signed in.
  refetchOnWindowFocus: 'always',
})

/** Whether an answer said that the session of this page has ended. */
export const sessionEndedQuery = queryOptions({
  queryKey: ['session-ended'],
  queryFn: () => false,
  initialData: false,
  staleTime: Number.POSITIVE_INFINITY,
})

/** Where people can sign in instead of with a password; null for nowhere, and until it is known. */
export function useProvider(): SessionAnswer['provider'] {
  return useQuery(sessionQuery).data?.provider ?? null
}

/** The project last open in this browser, which the next visit opens. */
export const lastProject = {
  read: () => inBrowser.read(lastProjectKey),
  keep: (id: string) => inBrowser.save(lastProjectKey, id),
}

/** The signed-in person. Only for use inside the shell. */
export function usePerson(): Person {
  const { person } = useSuspenseQuery(sessionQuery).data
  if (!person) throw new Error('Nobody is signed in')
  return person
}

/** Whether the signed-in person owns the console. */
export function useOwnsConsole(): boolean {
  return useSuspenseQuery(sessionQuery).data.ownsConsole
}

export function useProjects(): ProjectOfPerson[] {
  return useSuspenseQuery(sessionQuery).data.projects
}

/** The project in the address, with the person's role in it, and what the API has `of` it. Only inside the shell. */
export function useProject() {
  const { project: id } = useParams({ from: '/p/$project' })
  const project = useProjects().find((candidate) => candidate.id === id)
  if (!project) throw new Error('No such project')
  return { ...project, of: api.projects({ project: id }) }
}

/** Why the person may not do such a thing in the project in the address; null when they may. */
export function useRefusal(right: Right): string | null {
  const project = useProject()
  if (mayDo(right, project)) return null
  if (right === 'manage') return 'Only an owner of the project can do this.'
  if (right === 'delete' && project.role === 'member') return 'Only owners can delete in this project.'
  return 'You are a viewer of this project. An owner can make you a member.'
}
