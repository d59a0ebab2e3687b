import { Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useProject } from '../session.ts'
import { pages, settingsPage } from './pages.ts'
import { PersonMenu } from './person-menu.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'

interface NavigationProps {
  /** Icons alone, with their words as hints. */
  isNarrow: boolean
  /** Called when a link was followed. */
  onFollow?: () => void
}

/** The left side: the project, its pages, the settings and the person. */
export function Navigation({ isNarrow, onFollow }: NavigationProps) {
  return (
    <div className="cb-nav" data-narrow={isNarrow || undefined}>
      <ProjectSwitcher isNarrow={isNarrow} />
      <nav aria-label="Project" className="cb-nav-links">
        {pages.map((page) => (
          <PageLink key={page.to} page={page} isNarrow={isNarrow} onFollow={onFollow} />
        ))}
      </nav>
      <div className="cb-nav-end">
        <PageLink page={settingsPage} isNarrow={isNarrow} onFollow={onFollow} />
        <PersonMenu isNarrow={isNarrow} />
      </div>
    </div>
  )
}

interface PageLinkProps {
  page: (typeof pages)[number] | typeof settingsPage
  isNarrow: boolean
  onFollow: (() => void) | undefined
}

function PageLink({ page: { to, label, icon: Icon }, isNarrow, onFollow }: PageLinkProps) {
  const { id } = useProject()
  return (
    <Tooltip label={label} position="right" disabled={!isNarrow}>
      <Link
        to={to}
        params={{ project: id }}
        className="cb-nav-link"
        aria-label={isNarrow ? label : undefined}
        onClick={onFollow}
      >
        <Icon size={18} stroke={1.6} aria-hidden />
        {!isNarrow && <span>{label}</span>}
      </Link>
    </Tooltip>
  )
}
