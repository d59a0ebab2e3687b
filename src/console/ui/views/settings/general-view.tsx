import { PageHeader } from '../../components/page-header.tsx'

/** The project's name, and its end. */
export function GeneralView() {
  return <PageHeader title="General" />
}
