import { Link } from '@tanstack/react-router'
import { api, unwrap } from '../../api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { Mono } from '../../components/mono.tsx'
import classes from './entry.module.css'
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
      text="The first account is created with a link that only whoever runs Callbook can see."
      footer={<Link to="/sign-in">I already have an account</Link>}
    >
      <ol className={classes.steps}>
        <li>
          Callbook prints the link when it starts, as <Mono>{`${location.origin}/console/setup#…`}</Mono>.
          Open it here.
        </li>
        <li>
          If you no longer have the link, create a new one from Callbook’s folder:
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
    const advice = (
      <>
        Whoever runs Callbook can create a new link with <Mono>bun callbook person setup</Mono>.
      </>
    )
    return <LinkFrame title={title} error={error} onRetry={retry} fields={3} advice={advice} />
  }
  return (
    <EntryFrame
      title={title}
      text="Create the account that owns this console. It becomes the owner of every project that has none, and can invite other people."
    >
      <NewPersonForm
        label="Create account"
        onSubmit={async (person) => enter(await unwrap(api.links.setup.post({ token, ...person })))}
      />
    </EntryFrame>
  )
}
