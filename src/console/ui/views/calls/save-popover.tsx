import { Popover } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { unwrap } from '../../api.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import type { ChosenFilters } from './chosen-filters.ts'
import { SaveForm } from './save-form.tsx'
import { useViewChanges } from './view-queries.ts'

/** Saves the filters of the list as a view. */
export default function SavePopover({
  filters,
  target,
  opened,
  onChange,
}: PopupProps & { filters: ChosenFilters }) {
  const { of } = useProject()
  const { refresh } = useViewChanges()
  const save = async (name: string, isShared: boolean) => {
    await unwrap(of.views.post({ name, isShared, query: stringifySearch(filters) }))
    await refresh()
    onChange(false)
    notifications.show({ message: `Saved the view “${name}”` })
  }
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-start" trapFocus returnFocus width={280}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Save as view">
        <SaveForm
          label="Save these filters as"
          placeholder="Failed this week"
          button="Save view"
          onSave={save}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
