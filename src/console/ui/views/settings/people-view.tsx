import { PageHeader } from '../../components/page-header.tsx'

/** Who may do what in the project. */
export function PeopleView() {
  return <PageHeader title="People" />
}
