import { Button, CloseButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { IconTrash } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { KnowledgeRow } from '../../../../knowledge/indexed-items.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { knowledgeKeys } from '../../query-keys.ts'
import type { Chosen } from './item-columns.tsx'
import classes from './knowledge.module.css'

/** As many as one request deletes. */
export const chosenMax = 200
const namedMax = 5

interface ChosenItemsProps {
  project: string
  chosen: Chosen
  rows: readonly KnowledgeRow[]
}

/** How many items are chosen, and the button that deletes them. */
export function ChosenItems({ project, chosen: { ids, choose }, rows }: ChosenItemsProps) {
  const queryClient = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  const remove = async () => {
    const { deleted } = await unwrap(api.projects({ project }).knowledge.delete({ ids: [...ids] }))
    for (const id of ids) queryClient.removeQueries({ queryKey: knowledgeKeys.item(project, id) })
    await queryClient.invalidateQueries({ queryKey: knowledgeKeys.items(project) })
    choose([])
    notifications.show({ message: `${counted(deleted, 'item')} deleted, with chunks and vectors.` })
  }
  const named = rows.filter(({ id }) => ids.has(id)).slice(0, namedMax)
  const count = counted(ids.size, 'item')
  return (
    <>
      {ids.size > 0 && (
        <section className={classes.chosen} aria-label="Selected items">
          <span role="status">
            {asCount(ids.size)} selected
            {ids.size === chosenMax && ', as many as can be deleted at once'}
          </span>
          <Button
            size="compact-sm"
            variant="subtle"
            color="red"
            c="var(--cb-danger-text)"
            leftSection={<IconTrash size={14} aria-hidden />}
            onClick={() => setAsked(true)}
          >
            Delete
          </Button>
          <CloseButton size="sm" aria-label="Clear selection" onClick={() => choose([])} />
        </section>
      )}
      <ConfirmDialog
        opened={isAsked}
        onClose={() => setAsked(false)}
        title={`Delete ${count}?`}
        confirmLabel={`Delete ${count}`}
        onConfirm={remove}
      >
        <ul>
          {named.map(({ id, name }) => (
            <li key={id} dir="auto">
              {name}
            </li>
          ))}
          {ids.size > named.length && <li>and {asCount(ids.size - named.length)} more</li>}
        </ul>
        <p>
          This deletes their texts, chunks and vectors for good. Agents stop finding them at once. Legal holds
          keep calls, not knowledge, so none of these is held. This cannot be undone.
        </p>
      </ConfirmDialog>
    </>
  )
}
