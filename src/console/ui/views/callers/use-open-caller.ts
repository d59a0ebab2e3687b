import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import { useProject } from '../../session.ts'

/** Opens the page of the person behind a phone number, whose address does not show it. */
export function useOpenCaller() {
  const { id: project } = useProject()
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async (number: string) => {
      const { id: caller } = await unwrap(api.projects({ project }).callers.post({ number }))
      await navigate({ to: '/p/$project/callers/$caller', params: { project, caller } })
    },
  })
}
