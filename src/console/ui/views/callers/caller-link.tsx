import { Anchor } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useAct } from '../../components/acts.ts'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'

/** Other texts, such as a number's last digits, are not of one person. */
const wholeNumber = /^\+?(?:[\s().\-/]*\d){6,}$/

export function isWholeNumber(text: string): boolean {
  return wholeNumber.test(text)
}

/** Opens the page of the person behind a phone number, whose address does not show it. */
export function useOpenCaller() {
  const { of } = useProject()
  const navigate = useNavigate()
  return {
    send: (body: { number: string }) => of.callers.post(body),
    done: ({ id }: { id: string }) => navigate(to.caller(id)),
  }
}

/** Opens the page of the person behind a number, whose address has to be asked for. */
export function CallerLink({ number, children }: { number: string; children: string }) {
  const { mutate, isPending, error } = useAct(useOpenCaller())
  return (
    <>
      <Anchor
        component="button"
        type="button"
        inherit
        disabled={isPending}
        onClick={() => mutate({ number })}
      >
        {children}
      </Anchor>
      {error && <span role="alert"> {error.message}</span>}
    </>
  )
}
