import { Menu } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { PopupProps } from '../../components/popup.tsx'
import { useProject } from '../../session.ts'
import { facetsQuery } from './call-queries.ts'
import { valueLabel } from './filter-labels.ts'

const usualEvaluations = ['success', 'fail']
const evaluationsOffered = 8

interface EvaluationMenuProps extends Omit<PopupProps, 'onChange'> {
  /** The evaluation that people gave the call. */
  own: string | null
  onOpened: PopupProps['onChange']
  onChange: (evaluation: string | null) => void
}

/** The usual evaluations and those in use. */
export default function EvaluationMenu({ own, target, opened, onOpened, onChange }: EvaluationMenuProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const inUse = (facets?.evaluation ?? []).map(({ value }) => value)
  const offered = [...new Set([...usualEvaluations, ...inUse])].slice(0, evaluationsOffered)
  return (
    <Menu opened={opened} onChange={onOpened} position="bottom-start" returnFocus>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Your evaluation</Menu.Label>
        {offered.map((value) => (
          <Menu.Item
            key={value}
            leftSection={<IconCheck size={14} visibility={own === value ? undefined : 'hidden'} />}
            onClick={() => onChange(value)}
          >
            {valueLabel('evaluation', value)}
          </Menu.Item>
        ))}
        {own !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => onChange(null)}>Remove this evaluation</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
