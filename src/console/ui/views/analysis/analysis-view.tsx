import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { PageHeader } from '../../components/page-header.tsx'
import { useProject } from '../../session.ts'
import { Agreement } from './agreement.tsx'
import { statusQuery } from './analysis-queries.ts'
import { analysisSearch } from './analysis-search.ts'
import { PastCalls } from './past-calls.tsx'
import { RubricTab } from './rubric-tab.tsx'
import { StatusPanel } from './status-panel.tsx'

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
    <>
      <PageHeader
        title="Analysis"
        description="A model answers your questions about every completed call. What people say of a call stands above it."
      />
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
    </>
  )
}
