import { Select, Skeleton } from '@mantine/core'
import { IconArrowRight, IconScale } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Agreement as AgreementOf, Rubric } from '../../../../analysis/schemas.ts'
import { Empty } from '../../components/empty.tsx'
import { asDecimal, asPercent, counted } from '../../components/figures.ts'
import { PageButton, PageLink } from '../../components/links.tsx'
import { type Column, ListTable } from '../../components/list-table.tsx'
import { Mono } from '../../components/mono.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { useProject } from '../../session.ts'
import { Evaluation } from '../calls/evaluation.tsx'
import classes from './analysis-page.module.css'
import { agreementQuery, nextQuery, rubricQuery } from './analysis-queries.ts'
import { Verdict } from './verdict.tsx'

/** How far people and the model agree, where they do not, and which calls to review next. */
export function Agreement({ version }: { version: number | undefined }) {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(rubricQuery(project, version))
  const navigate = useNavigate({ from: '/p/$project/settings/analysis' })
  if (error && !data)
    return <Problem title="The rubric could not be loaded" error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  if (!data.rubric)
    return (
      <Empty icon={<IconScale size={24} stroke={1.6} />} title="Nothing to compare yet">
        Once a rubric has analyzed calls and people have reviewed some of them, you see here how often they
        agree.
      </Empty>
    )
  return (
    <div className="cb-stack">
      {data.versions.length > 1 && (
        <Select
          label="Version of the rubric"
          className={classes.versionSelect}
          allowDeselect={false}
          data={data.versions.map(({ version }, at) => ({
            value: String(version),
            label: `Version ${version}${at === 0 ? ', in force' : ''}`,
          }))}
          value={String(data.rubric.version)}
          onChange={(chosen) =>
            void navigate({
              to: '.',
              search: { tab: 'agreement', version: Number(chosen) },
              replace: true,
            })
          }
        />
      )}
      <Compared rubric={data.rubric} />
      <ReviewNext />
    </div>
  )
}

/** The evaluation, or a criterion. */
interface ComparedRow extends Pick<AgreementOf, 'calls' | 'agreed' | 'accuracy' | 'kappa' | 'baseRate'> {
  key: string
  name: ReactNode
}

interface DisagreementRow {
  key: string
  id: string
  about: ReactNode
  person: ReactNode
  model: ReactNode
}

function Compared({ rubric }: { rubric: Rubric }) {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(agreementQuery(project, rubric.version))
  if (error && !data)
    return <Problem title="The agreement could not be loaded" error={error} onRetry={() => void refetch()} />
  const names = new Map(rubric.criteria.map(({ id, name }) => [id, name]))
  const nameOf = (id: string) => <bdi>{names.get(id) ?? id}</bdi>
  const rows = data && [
    { key: 'evaluation', name: 'Whole evaluation', ...data },
    ...data.criteria.map(({ id, ...figures }) => ({ key: `c ${id}`, name: nameOf(id), ...figures })),
  ]
  const disagreements = data && [
    ...data.disagreements.map(({ id, person, model }) => ({
      key: `evaluation ${id}`,
      id,
      about: 'Whole evaluation',
      person: <Evaluation value={person} />,
      model: <Evaluation value={model} />,
    })),
    ...data.criteria.flatMap(({ id: criterion, disagreements }) =>
      disagreements.map(({ id, person, model }) => ({
        key: `c ${criterion} ${id}`,
        id,
        about: nameOf(criterion),
        person: <Verdict result={person === 'pass' ? 'pass' : 'fail'} />,
        model: <Verdict result={model === 'pass' ? 'pass' : 'fail'} />,
      })),
    ),
  ]
  return (
    <>
      <Panel title="How far people and the model agree">
        <ListTable<ComparedRow>
          label="Agreement"
          columns={figureColumns}
          rows={rows}
          rowKey={({ key }) => key}
          expectedRows={rubric.criteria.length + 1}
        />
        <p className={classes.legend}>
          Counted are calls on which both gave a clear answer. <strong>People pass</strong> is how often
          people say yes: where that is nearly always, agreeing is easy. <strong>Kappa</strong> allows for
          that: 0 is no better than a guess that knows it, 1 is perfect. Below 0.6, look at the disagreements
          and make the question clearer.
        </p>
      </Panel>
      <Panel title="Where they disagree">
        <ListTable<DisagreementRow>
          label="Disagreements"
          columns={disagreementColumns(project)}
          rows={disagreements}
          rowKey={({ key }) => key}
          expectedRows={3}
          empty={
            <p className="cb-dimmed">
              {data?.calls === 0 && data.criteria.every(({ calls }) => calls === 0)
                ? 'Nobody has reviewed a call that this version has analyzed. Start with the calls below.'
                : 'Nowhere: on every call that people reviewed, they and the model agree.'}
            </p>
          }
        />
      </Panel>
    </>
  )
}

const figureColumns: Column<ComparedRow>[] = [
  { key: 'name', header: 'Criterion', render: ({ name }) => name },
  {
    key: 'agreed',
    header: 'They agree on',
    width: '128px',
    align: 'right',
    render: ({ calls, agreed }) =>
      calls === 0 ? <span className="cb-dimmed">No reviews</span> : `${agreed} of ${counted(calls, 'call')}`,
  },
  {
    key: 'accuracy',
    header: 'Accuracy',
    width: '88px',
    align: 'right',
    from: 640,
    render: ({ accuracy }) => percent(accuracy),
  },
  {
    key: 'kappa',
    header: 'Kappa',
    width: '152px',
    align: 'right',
    from: 480,
    render: ({ kappa, calls }) =>
      kappa === null ? (
        <span className="cb-dimmed">{calls === 0 ? '–' : 'one answer only'}</span>
      ) : (
        `${asDecimal(kappa)}, ${kappaWord(kappa)}`
      ),
  },
  {
    key: 'base',
    header: 'People pass',
    width: '96px',
    align: 'right',
    from: 640,
    render: ({ baseRate }) => percent(baseRate),
  },
]

function percent(share: number | null): ReactNode {
  return share === null ? <span className="cb-dimmed">–</span> : asPercent(share)
}

/** The words of Altman, Practical Statistics for Medical Research (1991), page 404. */
function kappaWord(kappa: number): string {
  if (kappa <= 0.2) return 'poor'
  if (kappa <= 0.4) return 'fair'
  if (kappa <= 0.6) return 'moderate'
  return kappa <= 0.8 ? 'good' : 'very good'
}

function disagreementColumns(project: string): Column<DisagreementRow>[] {
  return [
    { key: 'call', header: 'Call', width: '32%', render: ({ id }) => <CallLink project={project} id={id} /> },
    { key: 'about', header: 'Criterion', from: 640, render: ({ about }) => about },
    { key: 'person', header: 'People', width: '112px', render: ({ person }) => person },
    { key: 'model', header: 'Model', width: '112px', render: ({ model }) => model },
  ]
}

function CallLink({ project, id }: { project: string; id: string }) {
  return (
    <PageLink
      to="/p/$project/calls/$call"
      params={{ project, call: id }}
      search={{ tab: 'analysis' }}
      size="sm"
    >
      <Mono truncate>{id}</Mono>
    </PageLink>
  )
}

interface CallToReview {
  id: string
  unknown: number
  passed: number
  failed: number
}

/** The calls that tell most when a person reviews them. */
function ReviewNext() {
  const { id: project } = useProject()
  const { data, error, refetch } = useQuery(nextQuery(project))
  const [first] = data?.data ?? []
  return (
    <Panel
      title="Review next"
      aside={
        first && (
          <PageButton
            to="/p/$project/calls/$call"
            params={{ project, call: first.id }}
            search={{ tab: 'analysis' }}
            size="xs"
            rightSection={<IconArrowRight size={14} />}
          >
            Open the first
          </PageButton>
        )
      }
    >
      {error && !data ? (
        <Problem title="The calls could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <ListTable<CallToReview>
          label="Calls to review next"
          columns={[
            {
              key: 'call',
              header: 'Call',
              width: '36%',
              render: ({ id }) => <CallLink project={project} id={id} />,
            },
            { key: 'verdicts', header: 'What the model says', render: verdictsOf },
          ]}
          rows={data?.data}
          rowKey={({ id }) => id}
          expectedRows={5}
          empty={<p className="cb-dimmed">Every analyzed call has been reviewed, or none is analyzed yet.</p>}
        />
      )}
      <p className={classes.legend}>
        Of the newest calls that nobody has reviewed: first those where the model is unsure, then those with
        both passed and failed criteria, then those of agents and end reasons that were reviewed least.
      </p>
    </Panel>
  )
}

function verdictsOf({ unknown, passed, failed }: CallToReview): string {
  return [
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(passed > 0 ? [`${passed} passed`] : []),
  ].join(', ')
}
