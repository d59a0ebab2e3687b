import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Person } from '../people/people.ts'
import type { ProjectOfPerson } from '../people/session-answer.ts'
import { api, unwrap } from './api.ts'

const freshForMs = 60_000

/** Who is signed in, and to what. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => unwrap(api.session.get({ fetch: { signal } })),
  staleTime: freshForMs,
})

/** The person who is signed in. Only for what the shell encloses. */
export function usePerson(): Person {
  const { person } = useSuspenseQuery(sessionQuery).data
  if (!person) throw new Error('Nobody is signed in')
  return person
}

/** Whether the person who is signed in owns the console. */
export function useOwnsConsole(): boolean {
  return useSuspenseQuery(sessionQuery).data.ownsConsole
}

export function useProjects(): ProjectOfPerson[] {
  return useSuspenseQuery(sessionQuery).data.projects
}

/** The project of the address, and what the person is in it. Only for what the shell encloses. */
export function useProject(): ProjectOfPerson {
  const { project: id } = useParams({ from: '/p/$project' })
  const project = useProjects().find((candidate) => candidate.id === id)
  if (!project) throw new Error('No such project')
  return project
}
