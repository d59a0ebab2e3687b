import { SegmentedControl } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { CreatedKey, KeyRecord } from '../../../../access/keys/key-record.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { SecretModal } from '../../components/shown-once.tsx'
import { useProject } from '../../session.ts'
import { keysQuery } from './key-queries.ts'
import { MadeKey } from './made-key.tsx'
import classes from './settings.module.css'

const overlaps = [
  { value: '0', label: 'None' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
]

interface RotateKeyDialogProps {
  record: KeyRecord
  opened: boolean
  onClose: () => void
}

/** Makes a key like this one and shows it once, then opens its page. */
export function RotateKeyDialog({ record, opened, onClose }: RotateKeyDialogProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [overlap, setOverlap] = useState('24')
  const [made, setMade] = useState<CreatedKey | null>(null)
  const rotate = async () => {
    const overlapHours = Number(overlap)
    setMade(await unwrap(api.projects({ project }).keys({ id: record.id }).rotate.post({ overlapHours })))
    await queryClient.invalidateQueries(keysQuery(project))
  }
  const finish = () => {
    const key = made?.id ?? record.id
    setMade(null)
    // Ignores the blocker: the dialog of a new key blocks all other navigation until the key is stored.
    void navigate({ to: '/p/$project/settings/keys/$key', params: { project, key }, ignoreBlocker: true })
  }
  return (
    <>
      <ConfirmDialog
        opened={opened}
        onClose={onClose}
        title={`Rotate ${record.name}?`}
        confirmLabel="Rotate key"
        isDanger={overlap === '0'}
        onConfirm={rotate}
      >
        <div className="cb-stack">
          <p>
            You get a new key with the same access and rules. The old key keeps working during the overlap, so
            that you have time to replace it.
          </p>
          <div>
            <p className={classes.label} id="overlap-label">
              Overlap
            </p>
            <SegmentedControl
              size="xs"
              aria-labelledby="overlap-label"
              value={overlap}
              onChange={setOverlap}
              data={overlaps}
            />
          </div>
          {overlap === '0' && <p className={classes.fieldError}>The old key stops working at once.</p>}
        </div>
      </ConfirmDialog>
      <SecretModal opened={made !== null} onClose={finish} title="Save your key">
        {made && <MadeKey made={made} onStored={finish} />}
      </SecretModal>
    </>
  )
}
