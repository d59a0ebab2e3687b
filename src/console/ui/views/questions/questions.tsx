import { Box, Button, type ButtonProps, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, lazy, type ReactNode, Suspense } from 'react'
import type { FoundPassage } from '../../../../knowledge/questions/hits.ts'
import type { MarkChange } from '../../../../knowledge/questions/question-marks.ts'
import { pathOf, unwrap } from '../../api.ts'
import { sayNotDone } from '../../components/acts.ts'
import { useShow } from '../../components/dialogs.tsx'
import { Guarded } from '../../components/guarded.tsx'
import { PageLink } from '../../components/links.tsx'
import { to } from '../../components/to.ts'
import { useProject } from '../../session.ts'

const KeepForm = lazy(() => import('./keep-form.tsx'))

interface KeepOptions extends Omit<ComponentProps<typeof KeepForm>, 'onClose'> {
  /** The title of the dialog. */
  title?: string
}

/** Opens the dialog that keeps a question as a golden one. */
export function useKeep() {
  const show = useShow()
  return ({ title = 'Keep as a golden question', ...form }: KeepOptions) =>
    show({
      title,
      size: 520,
      content: (close) => (
        <Suspense>
          <KeepForm {...form} onClose={close} />
        </Suspense>
      ),
    })
}

interface KeepButtonProps extends ButtonProps, KeepOptions {
  children: ReactNode
}

/** A button that keeps a question as a golden one. */
export function KeepButton({ question, title, label, onKept, children, ...button }: KeepButtonProps) {
  const keep = useKeep()
  const options = { question, ...(title && { title }), ...(label && { label }), ...(onKept && { onKept }) }
  return (
    <Guarded right="change">
      <Button variant="default" size="compact-sm" {...button} onClick={() => keep(options)}>
        {children}
      </Button>
    </Guarded>
  )
}

interface PassageListProps {
  passages: readonly FoundPassage[]
  /** ISO 8601: when they were found; passages that were changed since are marked. */
  askedAt?: string
}

/** A passage begins with its headings in Markdown, which are shown above it. */
function plain(text: string): string {
  return text.replace(/^(?:#{1,6} [^\n]*\n+)+/, '').replace(/^#{1,6} /gm, '')
}

/** The passages that a question found, best first, with their items. */
export function PassageList({ passages, askedAt }: PassageListProps) {
  if (passages.length === 0) return <p className="cb-dimmed">No passage was found.</p>
  return (
    <Stack component="ol" gap="xs" maw={720} className="cb-wrap">
      {passages.map(({ rank, item, heading, text, changedAt }) => (
        <Group component="li" key={rank} gap="xs" wrap="nowrap" align="flex-start">
          <span className="cb-figure cb-dimmed">{rank}</span>
          <Box miw={0}>
            {item ? (
              <PageLink {...to.item(item.id)} fw={500}>
                <bdi>{item.name}</bdi>
              </PageLink>
            ) : (
              <span className="cb-dimmed">An item that was deleted</span>
            )}
            {heading && heading !== item?.name && (
              <span className="cb-dimmed">
                {' › '}
                <bdi>{heading}</bdi>
              </span>
            )}
            {askedAt && changedAt && changedAt > askedAt && (
              <span className="cb-dimmed"> · changed since</span>
            )}
            {text !== null && (
              <Text size="sm" lineClamp={2} dir="auto">
                {plain(text)}
              </Text>
            )}
            {item && text === null && <p className="cb-dimmed">This passage is no longer in the item.</p>}
          </Box>
        </Group>
      ))}
    </Stack>
  )
}

/** The service asks gaps again after a change of knowledge: soon afterwards they close here. */
export const refetchInterval = 15_000

/** Says what a person thinks of a question, or who sees to it. */
export function useMark() {
  const { questions } = useProject().of
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...change }: MarkChange & { id: string }) =>
      unwrap(questions.asked({ id }).patch(change)),
    onError: (error) => sayNotDone('Your change was not saved', error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: pathOf(questions) }),
  })
}
