import { Popover } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { stringifySearch } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { SaveForm } from '../calls/save-form.tsx'
import { viewsQuery } from '../calls/view-queries.ts'
import type { ChartSearch } from './chart-search.ts'

interface KeepChartProps extends PopupProps {
  search: ChartSearch
  proposed: string
}

/** Names a chart and puts it on the overview. */
export default function KeepChart({ search, proposed, target, opened, onChange }: KeepChartProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const keep = async (name: string, isShared: boolean) => {
    const view = { name, isShared, page: 'chart' as const, query: stringifySearch(search) }
    await unwrap(api.projects({ project }).views.post(view))
    await queryClient.invalidateQueries({ queryKey: viewsQuery(project, 'chart').queryKey })
    onChange(false)
    notifications.show({ message: `“${name}” is on the overview` })
  }
  return (
    <Popover opened={opened} onChange={onChange} position="bottom-end" trapFocus returnFocus width={320}>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label="Keep chart">
        <SaveForm
          key={proposed}
          label="Put it on the overview as"
          proposed={proposed}
          button="Keep chart"
          onSave={keep}
        />
      </Popover.Dropdown>
    </Popover>
  )
}
