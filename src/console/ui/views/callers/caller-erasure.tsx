import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useCallback, useState } from 'react'
import type { CallerRecord } from '../../../../calls/keeping/callers.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { counted } from '../../components/figures.ts'
import { PageLink } from '../../components/links.tsx'
import { Panel } from '../../components/panel.tsx'
import { callKeys, settingsKeys } from '../../query-keys.ts'
import { callerQuery } from './caller-queries.ts'

const ReceiptProgress = lazy(() => import('../settings/receipt-progress.tsx'))

/** Erases the person's calls for good, and follows that until the last byte is gone. */
export function CallerErasure({ caller, project }: { caller: CallerRecord; project: string }) {
  const { id, number, calls, onHold } = caller
  const [isAsking, setAsking] = useState(false)
  const [request, setRequest] = useState<string | null>(null)
  const queryClient = useQueryClient()
  const left = calls - onHold
  // Calls may have come and holds may have been set since the page was loaded.
  const ask = async () => {
    await queryClient.refetchQueries(callerQuery(project, id))
    setAsking(true)
  }
  const erase = async () => {
    const accepted = await unwrap(api.projects({ project }).erasures.post({ number }))
    if ('id' in accepted) setRequest(accepted.id)
    await queryClient.invalidateQueries({ queryKey: settingsKeys.all(project) })
  }
  const refresh = useCallback(
    () => void queryClient.invalidateQueries({ queryKey: callKeys.caller(project, id) }),
    [queryClient, project, id],
  )
  return (
    <Panel
      title="Erase"
      aside={
        <PageLink to="/p/$project/settings/privacy/receipts" params={{ project }}>
          Receipts
        </PageLink>
      }
    >
      <div className="cb-stack">
        {request ? (
          <Suspense>
            <ReceiptProgress id={request} onDone={refresh} />
          </Suspense>
        ) : (
          <>
            <p className="cb-dimmed">{sentenceOf({ left, onHold })}</p>
            {left > 0 && (
              <Button color="red" onClick={() => void ask()}>
                Erase {counted(left, 'call')}
              </Button>
            )}
          </>
        )}
      </div>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        title={`Erase ${counted(left, 'call')}?`}
        word={String(left)}
        confirmLabel="Erase for good"
        onConfirm={erase}
      >
        This deletes every call from or to this number, with its transcript and details. This cannot be
        undone. Copies in backups, on your voice platform and in recordings elsewhere are not deleted.
        {onHold > 0 && ` ${counted(onHold, 'call')} on hold will not be erased.`}
      </ConfirmDialog>
    </Panel>
  )
}

function sentenceOf({ left, onHold }: { left: number; onHold: number }): string {
  const held = onHold > 0 ? ` ${counted(onHold, 'call')} on hold will not be erased.` : ''
  return left === 0
    ? `No calls from or to this number can be erased.${held}`
    : `Deletes the calls for good and erases them from the service’s files. Later calls are not affected.${held}`
}
