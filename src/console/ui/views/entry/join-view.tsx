import { PageHeader } from '../../components/page-header.tsx'

/** Accepting an invitation. */
export function JoinView() {
  return <PageHeader title="Join a project" />
}
