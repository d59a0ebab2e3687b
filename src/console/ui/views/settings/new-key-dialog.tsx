import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { CreatedKey } from '../../../../access/keys/key-record.ts'
import { SecretModal } from '../../components/shown-once.tsx'
import { useProject } from '../../session.ts'
import { keysQuery } from './key-queries.ts'
import { MadeKey } from './made-key.tsx'
import { type KeyPreset, NewKeyForm } from './new-key-form.tsx'

interface NewKeyDialogProps {
  opened: boolean
  onClose: () => void
  /** For one use: what its key is called, and its only access. */
  preset?: KeyPreset
  /** What the new key is used for, in place of a first request. */
  use?: ReactNode
  /** Called with the new key. */
  onMade?: (made: CreatedKey) => void
}

/**
 * Creates a key and shows it once. The key is only in this dialog's state, never in the cache of queries or
 * mutations.
 */
export function NewKeyDialog({ opened, onClose, preset, use, onMade }: NewKeyDialogProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [made, setMade] = useState<CreatedKey | null>(null)
  // One dialog for both steps gives the focus back to the button that opened it.
  return (
    <SecretModal
      isMade={made !== null}
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setMade(null)}
      title={made ? 'Save your key' : 'Create API Key'}
    >
      {made ? (
        <MadeKey made={made} onStored={onClose} use={use} />
      ) : (
        opened && (
          <NewKeyForm
            preset={preset}
            onCancel={onClose}
            onMade={(key) => {
              setMade(key)
              onMade?.(key)
              void queryClient.invalidateQueries(keysQuery(project))
            }}
          />
        )
      )}
    </SecretModal>
  )
}
