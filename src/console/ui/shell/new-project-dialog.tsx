import { Modal } from '@mantine/core'
import { NewProjectForm } from './new-project-form.tsx'

/** Asks for the name of a new project. */
export default function NewProjectDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="New project" size={440}>
      <NewProjectForm onMade={onClose} onCancel={onClose} />
    </Modal>
  )
}
