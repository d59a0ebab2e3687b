import { PageHeader } from '../../components/page-header.tsx'

/** Signing in. */
export function SignInView() {
  return <PageHeader title="Sign in" />
}
