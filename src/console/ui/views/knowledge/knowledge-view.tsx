import { PageHeader } from '../../components/page-header.tsx'

/** What the agents know, and how far it is indexed. */
export function KnowledgeView() {
  return <PageHeader title="Knowledge" />
}
