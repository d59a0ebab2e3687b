import { PageHeader } from '../../components/page-header.tsx'

/** For a person who is in no project yet. */
export function FirstProjectView() {
  return <PageHeader title="Welcome" />
}
