import { Button, Group, Modal, Radio, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { Role } from '../../../../identity.ts'
import type { CreatedInvitation } from '../../../people/invitations.ts'
import { api, unwrap } from '../../api.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { Problem } from '../../components/problem.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { useProject } from '../../session.ts'
import { peopleQuery, roles } from './people.ts'

interface InviteDialogProps {
  opened: boolean
  onClose: () => void
}

/** Creates a one-time invitation link. It is shown once, and only this dialog holds it. */
export function InviteDialog({ opened, onClose }: InviteDialogProps) {
  const { name } = useProject()
  const [made, setMade] = useState<CreatedInvitation | null>(null)
  const finish = () => {
    setMade(null)
    onClose()
  }
  return (
    <Modal
      opened={opened}
      onClose={finish}
      title={made ? 'Send this link' : `Invite to ${name}`}
      size={480}
      closeOnClickOutside={!made}
    >
      {made ? (
        <MadeLink made={made} onDone={finish} />
      ) : (
        opened && <InviteForm onMade={setMade} onCancel={finish} />
      )}
    </Modal>
  )
}

interface InviteFormProps {
  onMade: (invitation: CreatedInvitation) => void
  onCancel: () => void
}

function InviteForm({ onMade, onCancel }: InviteFormProps) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [role, setRole] = useState<Role>('member')
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  // Not a mutation: its cache would keep the link.
  const create = async () => {
    setPending(true)
    setError(null)
    try {
      onMade(await unwrap(api.projects({ project }).invitations.post({ role })))
      void queryClient.invalidateQueries(peopleQuery(project))
    } catch (failure) {
      setError(failure)
      setPending(false)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) void create()
  }
  return (
    <form onSubmit={submit} className="cb-stack">
      <Radio.Group
        label="Role"
        value={role}
        onChange={(value) => setRole(value === 'owner' ? value : 'member')}
      >
        <div className="cb-choices">
          {(['member', 'owner'] as const).map((value) => (
            <Radio.Card key={value} value={value} className="cb-choice">
              <Radio.Indicator size="xs" />
              <span>
                <strong>{roles[value].label}</strong>
                <span className="cb-dimmed">{roles[value].may}</span>
              </span>
            </Radio.Card>
          ))}
        </div>
      </Radio.Group>
      {error !== null && <Problem error={error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={isPending}>
          Create link
        </Button>
      </Group>
    </form>
  )
}

function MadeLink({
  made: { link, role, expiresAt },
  onDone,
}: {
  made: CreatedInvitation
  onDone: () => void
}) {
  const field = useFocus<HTMLInputElement>()
  return (
    <div className="cb-stack">
      <p>
        The first person to use this link joins as {role === 'owner' ? 'an owner' : 'a member'}. It expires{' '}
        <Instant at={expiresAt} as="absolute" /> and is not shown again.
      </p>
      <div className="cb-made-key">
        <TextInput
          ref={field}
          label="Link"
          value={link}
          readOnly
          classNames={{ input: 'cb-mono' }}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={link} label="Copy link" withText />
      </div>
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </div>
  )
}
