import { api, unwrap } from '../../api.ts'
import { EntryFrame } from './entry-frame.tsx'
import { LinkFrame } from './link-frame.tsx'
import { NewPersonForm } from './new-person-form.tsx'
import { useEntry } from './use-entry.ts'
import { useLink } from './use-link.ts'

const title = 'Set up Callbook'

/** The page of the set-up link: the first owner creates their account. */
export function SetupView() {
  const { token, answer, error, retry } = useLink('setup')
  const enter = useEntry()
  if (!answer) {
    const advice = 'A set-up link works once. It may have been used, or replaced by a newer one.'
    return <LinkFrame title={title} error={error} onRetry={retry} fields={3} advice={advice} />
  }
  return (
    <EntryFrame
      title={title}
      text="Create the account that owns this console. It gets every project without an owner, and can invite other people."
    >
      <NewPersonForm
        label="Create account"
        onSubmit={async (person) => enter(await unwrap(api.links.setup.post({ token, ...person })))}
      />
    </EntryFrame>
  )
}
