import { Button, Group, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { settingsKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import classes from './settings.module.css'

const pollMs = 1_000

/** What a dry run has counted. */
interface Counted {
  number: string
  calls: number
  onHold?: number
}

/** Erases all calls of one number, which are counted first. */
export function ErasePanel() {
  const { id: project } = useProject()
  const [number, setNumber] = useState('')
  const [isAsking, setAsking] = useState(false)
  const [request, setRequest] = useState<string | null>(null)
  const queryClient = useQueryClient()
  const count = useMutation({
    mutationFn: async (asked: string): Promise<Counted> => ({
      number: asked,
      ...(await unwrap(api.projects({ project }).erasures.post({ number: asked, dryRun: true }))),
    }),
  })
  const found = count.data?.number === number.trim() ? count.data : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (number.trim() !== '' && !count.isPending) count.mutate(number.trim())
  }
  const erase = async (asked: string) => {
    const accepted = await unwrap(api.projects({ project }).erasures.post({ number: asked }))
    if ('id' in accepted) setRequest(accepted.id)
    setNumber('')
    count.reset()
    await queryClient.invalidateQueries({ queryKey: settingsKeys.all(project) })
  }
  return (
    <Panel title="Erase a person">
      <form onSubmit={submit} className="cb-stack" noValidate>
        <TextInput
          label="Phone number"
          description="The full number. Calls from it and to it are deleted for good and erased from the service’s files. Later calls are not affected."
          value={number}
          onChange={(event) => setNumber(event.currentTarget.value)}
          type="tel"
          autoComplete="off"
          error={fieldErrors(count.error).number}
        />
        {count.error && !isAboutFields(count.error, ['number']) && <Problem error={count.error} />}
        <Group justify="space-between">
          <p role="status">{found ? sentenceOf(found) : ''}</p>
          {found && found.calls > 0 ? (
            <Button color="red" onClick={() => setAsking(true)}>
              Erase {counted(found.calls, 'call')}
            </Button>
          ) : (
            <Button type="submit" variant="default" disabled={number.trim() === ''} loading={count.isPending}>
              Count calls
            </Button>
          )}
        </Group>
      </form>
      {request && <Receipt id={request} />}
      <ConfirmDialog
        opened={isAsking && found !== undefined}
        onClose={() => setAsking(false)}
        title={`Erase ${counted(found?.calls ?? 0, 'call')}?`}
        word={String(found?.calls ?? 0)}
        confirmLabel="Erase for good"
        onConfirm={() => erase(found?.number ?? '')}
      >
        This deletes every call from or to this number, with its transcript and details. This cannot be
        undone. Copies in backups, on your voice platform and in recordings elsewhere are not deleted.
      </ConfirmDialog>
    </Panel>
  )
}

/** How far a request is, and its receipt once no byte is left. */
function Receipt({ id }: { id: string }) {
  const { id: project } = useProject()
  const { data, error } = useQuery({
    queryKey: settingsKeys.erasure(project, id),
    queryFn: ({ signal }) => unwrap(api.projects({ project }).erasures({ id }).get({ fetch: { signal } })),
    refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : pollMs),
  })
  if (error) return <Problem error={error} title="The receipt could not be loaded" />
  if (!data) return null
  const { calls = 0, deleted = 0, onHold = 0, doneAt } = data
  return (
    <div className="cb-stack" role="status">
      {doneAt === null ? (
        <>
          <p>
            Deleted {deleted} of {counted(calls, 'call')}. Their bytes are erased next. You can leave this
            page.
          </p>
          <progress
            className={classes.progress}
            value={calls ? deleted : 1}
            max={calls || 1}
            aria-label="Deleted calls"
          />
        </>
      ) : (
        <p>
          Erased {counted(deleted, 'call')}. The last byte was gone <Instant at={doneAt} as="absolute" />.
          {onHold > 0 && ` ${counted(onHold, 'call')} on hold not erased.`}
        </p>
      )}
      <p className="cb-dimmed">
        Receipt <Mono>{id}</Mono>
      </p>
    </div>
  )
}

function sentenceOf({ calls, onHold = 0 }: Counted): string {
  const held = onHold > 0 ? ` ${counted(onHold, 'call')} on hold will not be erased.` : ''
  return calls === 0
    ? `No calls from or to this number can be erased.${held}`
    : `${counted(calls, 'call')} from or to this number.${held}`
}
