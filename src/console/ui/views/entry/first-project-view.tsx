import { Anchor } from '@mantine/core'
import { NewProjectForm } from '../../shell/new-project-form.tsx'
import { signOut } from '../../shell/sign-out.ts'
import { EntryFrame } from './entry-frame.tsx'

/** For a person without a project. */
export function FirstProjectView() {
  return (
    <EntryFrame
      title="Create a project"
      text="You are not in a project yet. Create one, or open an invitation you were sent."
      footer={
        <Anchor component="button" type="button" onClick={() => void signOut()}>
          Sign out
        </Anchor>
      }
    >
      <NewProjectForm />
    </EntryFrame>
  )
}
