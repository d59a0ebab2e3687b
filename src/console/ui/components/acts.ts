import { notifications } from '@mantine/notifications'
import { type QueryClient, type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type Answered, ApiProblem, pathOf, unwrap } from '../api.ts'
import { sentenceOf } from './field-errors.ts'

/** An address of the API, whose answers are requested again with all below it; or a query. */
type Changed = object | { queryKey: QueryKey }

/** A request that changes something. */
export interface Act<Input, Output> {
  send: (input: Input) => Promise<Answered<Output>>
  changes?: Changed | Changed[] | undefined
  /** Said when it is done. */
  says?: string | ((output: Output) => string)
  done?: ((output: Output, input: Input) => unknown) | undefined
}

/** Sends the request, and is done when what it changes is loaded again. @throws ApiProblem */
export async function perform<Input, Output>(
  client: QueryClient,
  { send, changes = [], says, done }: Act<Input, Output>,
  input: Input,
): Promise<Output> {
  const output = await unwrap(send(input))
  await Promise.all([changes].flat().map((changed) => client.invalidateQueries({ queryKey: keyOf(changed) })))
  if (says) notifications.show({ message: typeof says === 'string' ? says : says(output) })
  await done?.(output, input)
  return output
}

/** An act of a page: its `mutate` sends it. Nothing keeps what was sent or answered, which may be a secret. */
export function useAct<Input, Output>(act: Act<Input, Output>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: (input: Input) => perform(client, act, input), gcTime: 0 })
}

function keyOf(changed: Changed): QueryKey {
  return 'queryKey' in changed ? changed.queryKey : pathOf(changed)
}

/** Says that what somebody asked for was not done, and why. */
export function sayNotDone(title: string, error: unknown): void {
  notifications.show({ color: 'red', title, message: reasonOf(error) })
}

/** Why a request failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return String(error)
  if (error.fields.length === 0) return error.detail
  return error.fields.map(({ field, message }) => `${sentenceOf(field, message)}.`).join(' ')
}
