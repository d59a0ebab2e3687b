import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ProjectSettings } from '../../../../db/project-settings.ts'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { PageLink } from '../../components/links.tsx'
import { useProject } from '../../session.ts'
import { dueQuery, expiredQuery, useSettingsChange } from './privacy-queries.ts'
import { SettingPanel } from './setting-panel.tsx'
import classes from './settings.module.css'

const sentence = 'Retention saved.'

/** When calls are deleted by themselves, which go next, and which went. */
export function RetentionPanel({ settings }: { settings: ProjectSettings }) {
  const { id: project } = useProject()
  const [days, setDays] = useState(settings.retainDays === null ? '' : String(settings.retainDays))
  const [asked, setAsked] = useState<{ retainDays: number; calls: number } | null>(null)
  const { mutate, mutateAsync, isPending, error, reset } = useSettingsChange(sentence)
  const [problem, setProblem] = useState<unknown>(null)
  const wanted = days.trim() === '' ? null : Number(days)
  const isShorter = wanted !== null && (settings.retainDays === null || wanted < settings.retainDays)
  const save = async () => {
    setProblem(null)
    if (wanted === null || !isShorter) return mutate({ retainDays: wanted })
    const { calls } = await unwrap(
      api.projects({ project }).settings.due.get({ query: { days: String(wanted) } }),
    )
    if (calls === 0) return mutate({ retainDays: wanted })
    reset()
    setAsked({ retainDays: wanted, calls })
  }
  const shown = asked ? null : (problem ?? error)
  return (
    <>
      <SettingPanel
        title="Retention"
        isChanged={wanted !== settings.retainDays}
        isPending={isPending}
        error={isAboutFields(shown, ['retainDays', 'days']) ? null : shown}
        onSave={() => void save().catch(setProblem)}
        footer={<Deletions settings={settings} />}
      >
        <TextInput
          label="Days to keep calls"
          description="Counted from when the call was completed. Live calls are never deleted. Leave empty to keep calls until someone deletes them."
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
          inputMode="numeric"
          autoComplete="off"
          error={fieldErrors(shown).retainDays ?? fieldErrors(shown).days}
        />
      </SettingPanel>
      <ConfirmDialog
        opened={asked !== null}
        onClose={() => setAsked(null)}
        title={`Delete ${counted(asked?.calls ?? 0, 'call')} now?`}
        word={String(asked?.calls ?? '')}
        confirmLabel={`Delete ${counted(asked?.calls ?? 0, 'call')}`}
        onConfirm={async () => asked && mutateAsync({ retainDays: asked.retainDays, confirm: asked.calls })}
      >
        <p>
          {counted(asked?.calls ?? 0, 'call')} of this project were completed more than {asked?.retainDays}{' '}
          days ago. They will be deleted within minutes. After that, calls that reach this age are deleted
          daily. This cannot be undone.
        </p>
      </ConfirmDialog>
    </>
  )
}

/** How many calls go next, and what went. */
function Deletions({ settings: { retainDays } }: { settings: ProjectSettings }) {
  const { id: project } = useProject()
  const { data: due } = useQuery(dueQuery(project))
  const { data: expired } = useQuery(expiredQuery(project))
  const rows = expired?.data ?? []
  return (
    <dl className={`${classes.facts} ${classes.settingFacts}`}>
      {retainDays !== null && (
        <div>
          <dt>Due for deletion</dt>
          <dd>{due ? `${counted(due.calls, 'call')} as of now` : '…'}</dd>
        </div>
      )}
      <div>
        <dt>Deleted so far</dt>
        <dd>
          {rows.length === 0 ? (
            <span className="cb-dimmed">None</span>
          ) : (
            <ul className={classes.plainList}>
              {rows.map(({ id, at, target }) => (
                <li key={id}>
                  <Instant at={at} as="absolute" />: {target}
                </li>
              ))}
              <li>
                <PageLink
                  to="/p/$project/settings/audit"
                  params={{ project }}
                  search={{ action: 'calls_expired' }}
                >
                  View all in the audit trail
                </PageLink>
              </li>
            </ul>
          )}
        </dd>
      </div>
    </dl>
  )
}
