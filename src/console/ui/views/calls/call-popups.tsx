import { Menu, TagsInput } from '@mantine/core'
import { IconCheck, IconCopy, IconLink, IconLock, IconPrinter, IconTrash } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Call } from '../../../../calls/schemas.ts'
import type { ShownDetails } from '../../../call-routes.ts'
import { copyAndSay, Mono } from '../../components/code.tsx'
import { useConfirm } from '../../components/dialogs.tsx'
import { Guarded } from '../../components/guarded.tsx'
import type { PopupProps } from '../../components/popup.tsx'
import { to } from '../../components/to.ts'
import { focusedOrMenu } from '../../components/use-focus.ts'
import { useProject, useRefusal } from '../../session.ts'
import { useCallLinks } from './call-links.ts'
import { facetsQuery, forgetCall } from './call-queries.ts'
import { readFilters } from './chosen-filters.ts'
import { callText } from './conversation.ts'
import { valueLabel } from './filter-labels.ts'
import { useAskForHold, useHolds } from './holds.tsx'

const usualEvaluations = ['success', 'fail']
const evaluationsOffered = 8
const labelCharsMax = 100
const labelsMax = 50

interface EvaluationMenuProps extends PopupProps {
  /** The evaluation that people gave the call. */
  own: string | null
  onChoose: (evaluation: string | null) => void
}

/** The usual evaluations and those in use. */
export function EvaluationMenu({ own, target, opened, onChange, onChoose }: EvaluationMenuProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const inUse = (facets?.evaluation ?? []).map(({ value }) => value)
  const offered = [...new Set([...usualEvaluations, ...inUse])].slice(0, evaluationsOffered)
  return (
    <Menu opened={opened} onChange={onChange} position="bottom-start">
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Your evaluation</Menu.Label>
        {offered.map((value) => (
          <Menu.Item
            key={value}
            leftSection={<IconCheck size={14} visibility={own === value ? undefined : 'hidden'} />}
            onClick={() => onChoose(value)}
          >
            {valueLabel('evaluation', value)}
          </Menu.Item>
        ))}
        {own !== null && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => onChoose(null)}>Remove this evaluation</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

interface LabelsInputProps {
  labels: string[]
  /** What is typed of the next one. */
  text: string
  onText: (text: string) => void
  onChange: (labels: string[]) => void
}

/** The labels of a call. Enter takes the first of those in use that are offered; the text itself is offered last. */
export function LabelsInput({ labels, text, onText, onChange }: LabelsInputProps) {
  const project = useProject()
  const { data: facets } = useQuery(facetsQuery(project.id))
  const inUse = (facets?.label ?? []).map(({ value }) => value)
  const typed = text.trim()
  const isNew = typed !== '' && ![...inUse, ...labels].includes(typed)
  return (
    <TagsInput
      size="xs"
      aria-label="Labels"
      placeholder={labels.length === 0 ? 'Add labels' : ''}
      autoFocus
      value={labels}
      onChange={onChange}
      searchValue={text}
      onSearchChange={onText}
      data={isNew ? [...inUse, typed] : inUse}
      renderOption={({ option }) =>
        isNew && option.value === typed ? (
          <span>
            New label “<bdi>{typed}</bdi>”
          </span>
        ) : (
          <bdi>{option.value}</bdi>
        )
      }
      selectFirstOptionOnChange
      maxTags={labelsMax}
      maxLength={labelCharsMax}
      limit={10}
    />
  )
}

interface CallMenuProps extends PopupProps {
  call: Call
  details: ShownDetails | undefined
}

/** What is done with a call as a whole. */
export function CallMenu({ call, details, target, opened, onChange }: CallMenuProps) {
  const links = useCallLinks()
  const askForHold = useAskForHold(call.id)
  const askToDelete = useAskToDelete(call.id)
  const isHeld = useHolds(call.id).length > 0
  const isOwner = useRefusal('manage') === null
  // The dialog gives the focus back to what had it.
  const from = (act: () => void) => () => {
    focusedOrMenu()?.focus()
    act()
  }
  // Once the menu is gone.
  const print = () => setTimeout(() => window.print())
  return (
    <Menu opened={opened} onChange={onChange} position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>{target}</Menu.Target>
      <Menu.Dropdown>
        {links.map(({ label, copy }) => (
          <Menu.Item key={label} leftSection={<IconLink size={16} />} onClick={copy}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Item
          leftSection={<IconCopy size={16} />}
          onClick={() => void copyAndSay(callText(call, details), 'Call copied as text')}
        >
          Copy as text
        </Menu.Item>
        <Menu.Item leftSection={<IconPrinter size={16} />} onClick={print}>
          Print
        </Menu.Item>
        <Menu.Divider />
        {isOwner && (
          <Menu.Item leftSection={<IconLock size={16} />} onClick={from(askForHold)}>
            Put on hold
          </Menu.Item>
        )}
        {isHeld ? (
          <Menu.Label>On hold: it cannot be deleted</Menu.Label>
        ) : (
          <Guarded right="delete">
            <Menu.Item
              color="var(--cb-danger-text)"
              leftSection={<IconTrash size={16} />}
              onClick={from(askToDelete)}
            >
              Delete call
            </Menu.Item>
          </Guarded>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}

function useAskToDelete(id: string) {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const filters = readFilters(useSearch({ strict: false }))
  const ask = useConfirm()
  return () =>
    ask({
      title: 'Delete this call?',
      verb: 'Delete call',
      text: (
        <p>
          This deletes call <Mono>{id}</Mono> for good, with its transcript, summary, analysis and details.
          This cannot be undone, and the ID cannot be used again.
        </p>
      ),
      send: () => of.calls({ id }).delete(),
      says: 'Call deleted',
      done: async () => {
        // Leaves the call first, so that it is not requested again.
        await navigate({ ...to.calls, search: filters, replace: true, resetScroll: false })
        forgetCall(queryClient, project, id)
      },
    })
}
