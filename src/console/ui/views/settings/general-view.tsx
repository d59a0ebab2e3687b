import { Button, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { api, unwrap } from '../../api.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Instant } from '../../components/instant.tsx'
import { Mono } from '../../components/mono.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Panel } from '../../components/panel.tsx'
import { useProject, useRefusal } from '../../session.ts'
import { NameForm } from './name-form.tsx'
import classes from './settings.module.css'
import { TimeZonePanel } from './time-zone-panel.tsx'

/** The project's name, its id, its time zone and its deletion. */
export function GeneralView() {
  const isOwner = useRefusal('manage') === null
  return (
    <>
      <PageHeader title="General" />
      <Stack gap="lg" maw={720}>
        {isOwner && <Rename />}
        <Facts />
        {isOwner && <TimeZonePanel />}
        {isOwner && <Deletion />}
      </Stack>
    </>
  )
}

function Rename() {
  const { id: project, name } = useProject()
  return (
    <Panel title="Name">
      <NameForm
        current={name}
        save={(next) => unwrap(api.projects({ project }).patch({ name: next }))}
        sentence={(next) => `The project is now called ${next}.`}
        field={{ 'aria-label': 'Project name', autoComplete: 'off' }}
      />
    </Panel>
  )
}

function Facts() {
  const { id, createdAt } = useProject()
  return (
    <Panel title="Project">
      <dl className={classes.facts}>
        <div>
          <dt>ID</dt>
          <dd>
            <Mono truncate>{id}</Mono>
            <CopyButton value={id} label="Copy project id" />
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Instant at={createdAt} as="absolute" />
          </dd>
        </div>
      </dl>
    </Panel>
  )
}

function Deletion() {
  const { id: project, name } = useProject()
  const [isAsking, setAsking] = useState(false)
  const remove = async () => {
    await unwrap(api.projects({ project }).delete({ confirm: name }))
    // Reloads the page, so that nothing of this project stays in memory.
    location.assign('/console')
  }
  return (
    <Panel title="Delete project">
      <Group justify="space-between" gap="md">
        <p className={`cb-dimmed ${classes.dangerText}`}>
          Permanently deletes all of its calls, knowledge and keys. Only a backup can bring them back.
        </p>
        <Button color="red" variant="outline" onClick={() => setAsking(true)}>
          Delete project
        </Button>
      </Group>
      <ConfirmDialog
        opened={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${name}?`}
        word={name}
        confirmLabel="Delete project"
        onConfirm={remove}
      >
        <p>
          This deletes every call and knowledge item in the project for good. Its keys stop working at once,
          and everyone loses access. This cannot be undone.
        </p>
      </ConfirmDialog>
    </Panel>
  )
}
