import { Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

interface PageHeaderProps {
  title: string
  /** One sentence at most. */
  description?: ReactNode
  /** The page's one primary action. */
  action?: ReactNode
}

/** The title of a page and of its tab, and the page's action on the right. */
export function PageHeader({ title, description, action }: PageHeaderProps) {
  useDocumentTitle(`${title} · Callbook`)
  return (
    <header className="cb-page-header">
      <div className="cb-page-header-text">
        <Title order={1}>{title}</Title>
        {description && <p className="cb-dimmed">{description}</p>}
      </div>
      {action && <div className="cb-page-header-action">{action}</div>}
    </header>
  )
}
