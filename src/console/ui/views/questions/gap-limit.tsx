import { NumberInput, Popover } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionForm } from '../../components/action-form.tsx'
import { asPercent } from '../../components/figures.ts'
import type { PopupProps } from '../../components/popup.tsx'
import { Problem } from '../../components/problem.tsx'
import { questionKeys } from '../../query-keys.ts'
import { useProject } from '../../session.ts'
import { useSettingsChange } from '../settings/privacy-queries.ts'

/** What a project begins with; src/guide/knowledge.md has the figures. */
const usualPercent = 50

/** Sets how much of a question a passage has to cover. */
export default function GapLimit({ limit, target, opened, onChange }: PopupProps & { limit: number }) {
  return (
    <Popover opened={opened} onChange={onChange} width={320} trapFocus returnFocus position="bottom-end">
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown>
        {opened && <LimitForm limit={limit} onDone={() => onChange(false)} />}
      </Popover.Dropdown>
    </Popover>
  )
}

function LimitForm({ limit, onDone }: { limit: number; onDone: () => void }) {
  const { id: project } = useProject()
  const queryClient = useQueryClient()
  const [percent, setPercent] = useState<number | string>(Math.round(limit * 100))
  const { mutate, isPending, error } = useSettingsChange(
    `A gap is now below ${asPercent(Number(percent) / 100)}.`,
  )
  const save = () =>
    mutate(
      { gapCoverage: Number(percent) / 100 },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: questionKeys.all(project) })
          onDone()
        },
      },
    )
  return (
    <ActionForm label="Save" isReady={percent !== ''} isPending={isPending} onSubmit={save} onCancel={onDone}>
      <NumberInput
        label="A question is a gap below"
        description={`How much of it the best passage covers. Usually ${usualPercent} %; a lower limit shows fewer gaps.`}
        suffix=" %"
        min={0}
        max={100}
        clampBehavior="strict"
        allowDecimal={false}
        value={percent}
        onChange={setPercent}
        data-autofocus
      />
      {error && <Problem error={error} />}
    </ActionForm>
  )
}
