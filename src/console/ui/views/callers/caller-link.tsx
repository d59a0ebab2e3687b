import { Anchor } from '@mantine/core'
import { useOpenCaller } from './use-open-caller.ts'

/** Other texts, such as a number's last digits, are not of one person. */
const wholeNumber = /^\+?(?:[\s().\-/]*\d){6,}$/

export function isWholeNumber(text: string): boolean {
  return wholeNumber.test(text)
}

/** Opens the page of the person behind a number, whose address has to be asked for. */
export function CallerLink({ number, children }: { number: string; children: string }) {
  const { mutate, isPending, error } = useOpenCaller()
  return (
    <>
      <Anchor component="button" type="button" inherit disabled={isPending} onClick={() => mutate(number)}>
        {children}
      </Anchor>
      {error && <span role="alert"> {error.message}</span>}
    </>
  )
}
