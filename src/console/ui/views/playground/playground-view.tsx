import { PageHeader } from '../../components/page-header.tsx'

/** A question as an agent would ask it, and what it finds. */
export function PlaygroundView() {
  return <PageHeader title="Playground" />
}
