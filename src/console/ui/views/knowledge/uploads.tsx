import { Button, Group, Loader, Paper, Stack, Text } from '@mantine/core'
import { Dropzone, type DropzoneProps } from '@mantine/dropzone'
import { type Icon, IconAlertTriangle, IconCircleCheck, IconClock, IconCopy } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { Twin } from '../../../../knowledge/knowledge.ts'
import { pathOf } from '../../api.ts'
import { PageLink } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'
import { type Document, failureOf, readDocument, storeDocument, type TwinAnswer } from './queries.ts'

/** A file that is becoming an item. */
interface Upload {
  key: number
  fileName: string
  state: 'waiting' | 'saving' | 'saved' | 'duplicate' | 'failed'
  /** The item it became. */
  itemId: string | null
  /** The item that has the same text, and what was read. */
  duplicate: { twin: Twin; document: Document } | null
  /** Why it failed, as a sentence. */
  error: string | null
}

/** Saves files as items, one after the other, as they are read. One failure does not stop the others. */
export function useUploads() {
  const { id: project, of } = useProject()
  const queryClient = useQueryClient()
  const [uploads, setUploads] = useState<readonly Upload[]>([])
  const lastKey = useRef(0)

  const change = (key: number, values: Partial<Upload>) =>
    setUploads((all) => all.map((upload) => (upload.key === key ? { ...upload, ...values } : upload)))

  const save = async (key: number, read: () => Promise<Document>, answer: TwinAnswer = 'ask') => {
    change(key, { state: 'saving', duplicate: null })
    try {
      const document = await read()
      const stored = await storeDocument(project, document, answer)
      if ('twin' in stored) change(key, { state: 'duplicate', duplicate: { twin: stored.twin, document } })
      else change(key, { state: 'saved', itemId: stored.id })
    } catch (error) {
      change(key, { state: 'failed', error: failureOf(error) })
    }
    await queryClient.invalidateQueries({ queryKey: [...pathOf(of.knowledge), 'pages'] })
  }

  const start = async (sources: readonly { fileName: string; document: () => Promise<Document> }[]) => {
    const queue = sources.map((source) => ({ ...source, key: ++lastKey.current }))
    setUploads((all) => [
      ...queue.map(({ key, fileName }): Upload => {
        return { key, fileName, state: 'waiting', itemId: null, duplicate: null, error: null }
      }),
      ...all,
    ])
    for (const { key, document } of queue) await save(key, document)
  }

  return {
    uploads,
    addFiles: (files: readonly File[]) =>
      start(files.map((file) => ({ fileName: file.name, document: () => readDocument(project, file) }))),
    addDocuments: (documents: readonly Document[]) =>
      start(documents.map((document) => ({ fileName: document.name, document: async () => document }))),
    /** Stores a file that waits for an answer. */
    answer: ({ key, duplicate }: Upload, answer: TwinAnswer) =>
      duplicate ? save(key, async () => duplicate.document, answer) : undefined,
    clear: () => setUploads([]),
  }
}

type UploadListProps = Pick<ReturnType<typeof useUploads>, 'uploads' | 'answer' | 'clear'>

/** The outcome of each dropped file. */
export function UploadList({ uploads, answer, clear }: UploadListProps) {
  if (uploads.length === 0) return null
  const countOf = (wanted: Upload['state']) => uploads.filter(({ state }) => state === wanted).length
  const [saved, failed, duplicates] = [countOf('saved'), countOf('failed'), countOf('duplicate')]
  const isDone = saved + failed + duplicates === uploads.length
  // Those that need somebody come first, so that they are visible without scrolling.
  const rank = ({ state }: Upload) => Number(state === 'failed') + Number(state === 'duplicate') * 2
  const urgentFirst = uploads.toSorted((a, b) => rank(b) - rank(a))
  return (
    <Paper withBorder p="sm" role="status" aria-live="polite" aria-label="Import">
      <Group justify="space-between" mb="xs">
        <Text fw={600}>
          {isDone ? 'Imported' : 'Importing'} {saved} of {uploads.length}
          {failed > 0 && `, ${failed} failed`}
          {duplicates > 0 && `, ${duplicates} to decide`}
        </Text>
        <Button size="compact-xs" variant="subtle" color="gray" onClick={clear} disabled={!isDone}>
          Close
        </Button>
      </Group>
      <Stack gap={4} mah={220} style={{ overflowY: 'auto' }}>
        {urgentFirst.map((upload) => (
          <UploadRow key={upload.key} upload={upload} onAnswer={(given) => void answer(upload, given)} />
        ))}
      </Stack>
    </Paper>
  )
}

interface UploadRowProps {
  upload: Upload
  onAnswer: (answer: TwinAnswer) => void
}

function UploadRow({ upload: { state, fileName, itemId, duplicate, error }, onAnswer }: UploadRowProps) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <UploadIcon state={state} />
      <div style={{ minWidth: 0 }}>
        {itemId ? (
          <PageLink {...to.item(itemId)} size="sm" dir="auto">
            {fileName}
          </PageLink>
        ) : (
          <Text size="sm" truncate dir="auto">
            {fileName}
          </Text>
        )}
        {duplicate && (
          <TwinChoice
            twin={duplicate.twin}
            name={duplicate.document.name}
            onReplace={() => onAnswer(duplicate.twin)}
            onKeep={() => onAnswer('keep')}
          />
        )}
        {error && (
          <Text size="xs" c="var(--cb-danger-text)">
            {error}
          </Text>
        )}
      </div>
    </Group>
  )
}

const uploadIcons = {
  waiting: { icon: IconClock, label: 'Waiting', color: 'currentColor' },
  duplicate: { icon: IconCopy, label: 'Same text', color: 'var(--cb-warning)' },
  saved: { icon: IconCircleCheck, label: 'Saved', color: 'var(--cb-success)' },
  failed: { icon: IconAlertTriangle, label: 'Failed', color: 'var(--cb-danger)' },
}

function UploadIcon({ state }: Pick<Upload, 'state'>) {
  if (state === 'saving') return <Loader size={16} aria-label="Saving" />
  const { icon: Drawn, label, color } = uploadIcons[state]
  return <Drawn size={16} style={{ flex: 'none', marginTop: 2 }} color={color} aria-label={label} />
}

interface TwinChoiceProps {
  /** The item that has the same text. */
  twin: Twin
  /** The name of what was to be stored. */
  name: string
  isPending?: boolean
  onReplace: () => void
  onKeep: () => void
}

/** Asks what becomes of a text that an item has already. Nothing is stored until it is answered. */
export function TwinChoice({ twin, name, isPending = false, onReplace, onKeep }: TwinChoiceProps) {
  return (
    <>
      <p>
        <strong>
          <PageLink {...to.item(twin.id)} inherit dir="auto">
            {twin.name}
          </PageLink>{' '}
          has this text already.
        </strong>{' '}
        {twin.name === name
          ? 'Replacing it leaves one item with this text.'
          : 'Replacing it gives it this name and description.'}
      </p>
      <Group gap="xs" mt={4}>
        <Button variant="default" size="compact-sm" disabled={isPending} onClick={onReplace}>
          Replace
        </Button>
        <Button variant="default" size="compact-sm" disabled={isPending} onClick={onKeep}>
          Keep both
        </Button>
      </Group>
    </>
  )
}

interface DropAreaProps extends Pick<DropzoneProps, 'onDrop' | 'openRef'> {
  isActive?: boolean
  icon: Icon
  title: string
  /** What happens to the files. Without it, the area takes one file. */
  text?: string
}

/** Takes files that are dropped anywhere on the page, and says so while they are dragged over it. */
export function DropArea({ isActive = true, icon: Drawn, title, text, ...area }: DropAreaProps) {
  return (
    <Dropzone.FullScreen
      active={isActive}
      multiple={text !== undefined}
      withinPortal={false}
      // Hidden until a file is dragged over the page.
      activateOnKeyboard={false}
      {...area}
    >
      <Stack align="center" justify="center" h="60vh" gap="xs" style={{ pointerEvents: 'none' }}>
        <Drawn size={40} stroke={1.5} />
        <Text size="lg" fw={600}>
          {title}
        </Text>
        {text && <Text c="dimmed">{text}</Text>}
      </Stack>
    </Dropzone.FullScreen>
  )
}
