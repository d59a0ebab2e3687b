import { Anchor } from '@mantine/core'
import { NewProjectForm } from '../../shell/new-project-form.tsx'
import { signOut } from '../../shell/sign-out.ts'
import { EntryFrame } from './entry-frame.tsx'

/** For a person who is in no project yet, or in none any more. */
export function FirstProjectView() {
  return (
    <EntryFrame
      title="Create a project"
      text="You are in no project yet. Make one of your own, or open the invitation that you were given."
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
