import { Group, Skeleton, Stack, Tabs } from '@mantine/core'
import { IconAlertTriangle, IconPlayerPause, IconPower } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AnalysisStatus, Rubric } from '../../../../analysis/schemas.ts'
import { CodeBlock, Mono } from '../../components/code.tsx'
import { asCount, counted } from '../../components/figures.ts'
import { Instant } from '../../components/instant.tsx'
import { Facts, Page } from '../../components/page.tsx'
import { Problem, Warning } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useProject } from '../../session.ts'
import { Agreement } from './agreement.tsx'
import { rubricQuery, statusQuery } from './analysis-queries.ts'
import { analysisSearch } from './analysis-search.ts'
import { PastCalls } from './past-calls.tsx'
import { RubricTab } from './rubric-tab.tsx'

const tabs = [
  { value: 'rubric', label: 'Rubric' },
  { value: 'past', label: 'Past calls' },
  { value: 'agreement', label: 'Agreement' },
]

/** What a model is asked about each call, runs over past calls, and how far people agree with it. */
export function AnalysisView() {
  const { id: project } = useProject()
  const { tab = 'rubric', version } = useSearch({ from: '/p/$project/settings/analysis' })
  const navigate = useNavigate({ from: '/p/$project/settings/analysis' })
  const { data: status, error } = useQuery(statusQuery(project))
  const show = (next: string | null) =>
    void navigate({ to: '.', search: (search) => analysisSearch({ ...search, tab: next }), replace: true })
  return (
    <Page
      title="Analysis"
      description="A model answers your questions about every completed call. A person’s verdict overrides it."
    >
      <StatusPanel status={status} error={error} />
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="rubric">
          {/* Remounts for another version, so that nothing of the previous one is left. */}
          <RubricTab key={version} version={version} hasModel={Boolean(status?.model)} />
        </Tabs.Panel>
        <Tabs.Panel value="past">
          <PastCalls status={status} />
        </Tabs.Panel>
        <Tabs.Panel value="agreement">
          <Agreement version={version} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

/** The service counts no further. */
const waitingMax = 10_000

interface StatusPanelProps {
  /** Undefined while it is loading. */
  status: AnalysisStatus | undefined
  error: unknown
}

/** Which model is asked and where it is, what it has used this month, and what waits. */
function StatusPanel({ status, error }: StatusPanelProps) {
  const { id: project } = useProject()
  const rubrics = useQuery(rubricQuery(project))
  if (!status && error) return <Problem title="The state of the analysis could not be loaded" error={error} />
  if (status && status.model === null) return <NoModel />
  const rubric = rubrics.data?.rubric ?? null
  // Shown at once, so that nothing moves.
  const shown = (fact: (known: AnalysisStatus) => ReactNode) =>
    status === undefined || rubrics.isPending ? <Skeleton height={12} width={120} my={4} /> : fact(status)
  return (
    <Stack component="section" gap="sm" mb="md" px="md" py="sm" className="cb-box">
      <Facts
        isRow
        of={{
          Model: shown(({ model, pause }) => (
            <>
              <Mono>{model}</Mono> <State pause={pause} rubric={rubric} />
            </>
          )),
          'Transcripts are sent to': shown(({ destination }) => <Mono>{destination}</Mono>),
          'Tokens this month': shown(({ tokens }) => (
            <Usage tokens={tokens} budget={rubric?.tokensPerMonth ?? null} />
          )),
          Waiting: shown(({ waiting }) =>
            waiting === 0
              ? 'No calls'
              : `${counted(waiting, 'call')}${waiting === waitingMax ? ' or more' : ''}`,
          ),
        }}
      />
      {status?.pause && <Pause pause={status.pause} />}
    </Stack>
  )
}

/** Why nothing is asked just now; nothing where it is. */
function State({ pause, rubric }: Pick<AnalysisStatus, 'pause'> & { rubric: Rubric | null }) {
  if (pause) return <StatusBadge tone="warning" icon={IconPlayerPause} label="Paused" />
  if (rubric && rubric.share > 0) return null
  return (
    <StatusBadge tone="neutral" icon={IconPower} label={rubric ? 'Off: its share is 0%' : 'No rubric yet'} />
  )
}

function Usage({ tokens, budget }: Pick<AnalysisStatus, 'tokens'> & { budget: number | null }) {
  const used = tokens.prompt + tokens.completion
  const split = `${asCount(tokens.prompt)} sent, ${asCount(tokens.completion)} answered`
  return (
    <Group component="span" gap="xs" title={split}>
      <span className="cb-figure">
        {asCount(used)}
        {budget !== null && ` of ${asCount(budget)}`}
      </span>
      {budget !== null && (
        <progress style={{ width: 96 }} aria-label="Share of the budget" value={used} max={budget || 1} />
      )}
    </Group>
  )
}

type PauseReason = NonNullable<AnalysisStatus['pause']>['reason']

const pauseWords: Record<PauseReason, { title: string; next: string }> = {
  credentials: {
    title: 'The model’s server refuses our token, or wants to be paid.',
    next: 'Whoever runs Callbook sets a valid ANALYSIS_TOKEN and restarts it.',
  },
  model: {
    title: 'The server does not know the model.',
    next: 'Whoever runs Callbook checks ANALYSIS_MODEL and ANALYSIS_ENDPOINT, and restarts it.',
  },
  unreachable: {
    title: 'The model’s server does not answer.',
    next: 'Check that it runs and that Callbook can reach it.',
  },
  budget: {
    title: 'This month’s budget is used up.',
    next: 'Raise the budget in the rubric to go on at once. Otherwise it goes on next month.',
  },
}

function Pause({ pause: { reason, detail, since, until } }: { pause: NonNullable<AnalysisStatus['pause']> }) {
  const { title, next } = pauseWords[reason]
  return (
    <Warning icon={<IconAlertTriangle size={16} aria-hidden />}>
      <strong>{title}</strong> {next} Calls wait meanwhile, and none is lost.
      <br />
      <span className="cb-dimmed">
        {reason !== 'budget' && `${detail}. `}
        Paused <Instant at={since} />, next try <Instant at={until} as="coming" />
      </span>
    </Warning>
  )
}

function NoModel() {
  return (
    <Stack component="section" gap="sm" mb="md" px="md" py="sm" className="cb-box">
      <p>
        <StatusBadge tone="neutral" icon={IconPower} label="Off" /> No model is set, so no transcript is sent
        anywhere. Whoever runs Callbook names one in its settings and restarts it: your own server (llama.cpp,
        vLLM, Ollama and others), or Hugging Face with a token.
      </p>
      <CodeBlock
        label="Copy settings"
        code={'ANALYSIS_MODEL=qwen3-8b\nANALYSIS_ENDPOINT=http://127.0.0.1:8080/v1'}
      />
      <p className="cb-dimmed">You can write the rubric before.</p>
    </Stack>
  )
}
