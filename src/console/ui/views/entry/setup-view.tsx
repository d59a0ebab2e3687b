import { Link } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Mono } from '../../components/mono.tsx'
import { EntryFrame } from './entry-frame.tsx'
import { LinkFrame } from './link-frame.tsx'
import { NewPersonForm } from './new-person-form.tsx'
import { useEntry } from './use-entry.ts'
import { useLink } from './use-link.ts'

const title = 'Set up Callbook'

/** At the plain address, while nobody has an account. */
function NoLink() {
  return (
    <EntryFrame
      title={title}
      text="The first account is made with a link that only whoever runs Callbook can see."
      footer={<Link to="/sign-in">I have an account already</Link>}
    >
      <ol className="cb-entry-steps">
        <li>
          Callbook prints the link when it starts, as <Mono>{`${location.origin}/console/setup#…`}</Mono>.
          Open it here.
        </li>
        <li>
          If the link is gone, make a new one in Callbook’s folder:
          <CodeBlock code="bun callbook person setup" label="Copy command" />
        </li>
      </ol>
    </EntryFrame>
  )
}

/** The page of the set-up link: the first owner creates their account. */
export function SetupView() {
  const { token, answer, error, retry } = useLink('setup')
  const enter = useEntry()
  if (!token) return <NoLink />
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
