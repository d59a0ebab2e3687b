import { PageHeader } from '../../components/page-header.tsx'

/** Writing a knowledge item, with its chunks beside it. */
export function NewItemView() {
  return <PageHeader title="New item" />
}
