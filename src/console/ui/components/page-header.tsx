import { Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import classes from './page-header.module.css'

interface PageHeaderProps {
  title: string
  /** The title of the tab, for a page whose own title must not be in the browser's history. */
  tabTitle?: string
  /** One sentence at most. */
  description?: ReactNode
  /** The page's one primary action. */
  action?: ReactNode
}

/** The title of a page and of its tab, and the page's action on the right. */
export function PageHeader({ title, tabTitle = title, description, action }: PageHeaderProps) {
  useDocumentTitle(`${tabTitle} · Callbook`)
  return (
    <header className={classes.pageHeader}>
      <Stack gap={4} miw={0} className={classes.text}>
        <Title order={1} dir="auto">
          {title}
        </Title>
        {description && (
          <p className="cb-dimmed" dir="auto">
            {description}
          </p>
        )}
      </Stack>
      {action && <div className={`cb-screen ${classes.action}`}>{action}</div>}
    </header>
  )
}
