import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { api, read } from '../api.ts'
import { useNow } from '../components/instant.tsx'
import { to } from '../components/to.ts'
import { useDates } from '../components/use-dates.ts'
import { useOwnsConsole, useProject } from '../session.ts'
import classes from './navigation.module.css'
import { servicePage } from './pages.ts'

const refetchInterval = 60_000
/** The state of the service is dearer to read. */
const serviceMs = 600_000
const hourMs = 3_600_000
/** Longer than a weekend with a holiday. */
const silentMs = 96 * hourMs
/** Of a daily backup, as in the guide. */
const backupMs = 26 * hourMs

interface AttentionProps {
  isNarrow: boolean
  onFollow: (() => void) | undefined
}

/** What needs somebody, in one line that leads there; nothing while all is well. */
export default function Attention({ isNarrow, onFollow }: AttentionProps) {
  const [first, ...others] = useConcerns()
  if (!first) return null
  const more = others.length > 0 ? ` · ${others.length}\u00a0more` : ''
  const all = [first, ...others].map(({ text }) => text).join('\n')
  return (
    <Link
      {...first.link}
      className={classes.link}
      onClick={onFollow}
      data-hint={isNarrow || more ? all : undefined}
      data-hint-side="right"
    >
      <IconAlertTriangle size={18} color="var(--cb-warning)" aria-hidden />
      <span className={isNarrow ? 'cb-hidden' : undefined} dir="auto">
        {first.text}
        {more}
      </span>
    </Link>
  )
}

interface Concern {
  text: string
  link: LinkProps
}

/** Firing alerts for everybody, failing webhooks and silent sources for owners, a missed backup for the console's owner. */
function useConcerns(): Concern[] {
  const { id: project, role, of } = useProject()
  const now = useNow()
  const dates = useDates()
  const isOwner = { refetchInterval, enabled: role === 'owner' }
  const { data: alerts } = useQuery({ ...read(of.alerts), refetchInterval })
  const { data: webhooks } = useQuery({ ...read(of.webhooks), ...isOwner })
  const { data: sources } = useQuery({ ...read(of.sources), ...isOwner })
  const ownsConsole = { refetchInterval: serviceMs, staleTime: serviceMs, enabled: useOwnsConsole() }
  const { data: service } = useQuery({ ...read(api.operator), ...ownsConsole })
  const isOver = (at: string, ms: number) => now - Date.parse(at) > ms
  const firing = alerts?.data.filter(({ state, paused }) => state === 'alert' && !paused) ?? []
  const failing = webhooks?.data.filter(({ failures }) => failures > 0) ?? []
  const silent = sources?.data.flatMap(({ id, name, lastEventAt: at }) =>
    at !== null && isOver(at, silentMs) ? [{ id, name, at }] : [],
  )
  const backup = service?.lastBackup?.at
  return [
    ...firing.map(({ id, name }) => ({ text: `“${name}” is firing`, link: to.alert(id) })),
    ...failing.map(({ id, url }) => ({ text: `${new URL(url).host} fails`, link: to.webhook(id) })),
    ...(silent ?? []).map(({ id, name, at }) => ({
      text: `${name} was last heard ${dates.relative(at, now)}`,
      link: to.source(id),
    })),
    ...(backup && isOver(backup, backupMs)
      ? [
          {
            text: `The last backup was ${dates.relative(backup, now)}`,
            link: { to: servicePage.to, params: { project } },
          },
        ]
      : []),
  ]
}
