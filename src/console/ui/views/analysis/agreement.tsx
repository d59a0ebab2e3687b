import { Select, Stack, Text } from '@mantine/core'
import { IconListCheck, IconScale } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Rubric } from '../../../../analysis/schemas.ts'
import { sayNotDone } from '../../components/acts.ts'
import { Mono } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { asDecimal, asPercent, counted } from '../../components/figures.ts'
import { TextButton } from '../../components/icon-button.tsx'
import { PageLink } from '../../components/links.tsx'
import { Loaded } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { QueryTable } from '../../components/table.tsx'
import { to } from '../../components/to.ts'
import { useProject, useRefusal } from '../../session.ts'
import { Evaluation } from '../calls/call-line.tsx'
import { useStartQueue } from '../calls/queue-queries.ts'
import { agreementQuery, nextQuery, rubricQuery } from './analysis-queries.ts'
import { Verdict } from './analysis-words.tsx'

/** How far people and the model agree, where they do not, and which calls to review next. */
export function Agreement({ version }: { version: number | undefined }) {
  const rubric = useQuery(rubricQuery(useProject().id, version))
  const navigate = useNavigate({ from: '/p/$project/settings/analysis' })
  return (
    <Loaded query={rubric} what="The rubric">
      {({ rubric, versions }) =>
        rubric ? (
          <Stack>
            {versions.length > 1 && (
              <Select
                label="Version of the rubric"
                maw={320}
                allowDeselect={false}
                data={versions.map(({ version }, at) => ({
                  value: String(version),
                  label: `Version ${version}${at === 0 ? ', in force' : ''}`,
                }))}
                value={String(rubric.version)}
                onChange={(chosen) =>
                  void navigate({
                    to: '.',
                    search: { tab: 'agreement', version: Number(chosen) },
                    replace: true,
                  })
                }
              />
            )}
            <Compared rubric={rubric} />
            <ReviewNext />
          </Stack>
        ) : (
          <Empty icon={<IconScale size={24} stroke={1.6} />} title="Nothing to compare yet">
            Once a rubric has analyzed calls and people have reviewed some of them, you see here how often
            they agree.
          </Empty>
        )
      }
    </Loaded>
  )
}

function Compared({ rubric }: { rubric: Rubric }) {
  const agreement = useQuery(agreementQuery(useProject().id, rubric.version))
  const { data } = agreement
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
        <QueryTable
          label="Agreement"
          of={agreement}
          what="The agreement"
          rows={rows}
          rowKey={({ key }) => key}
          expectedRows={rubric.criteria.length + 1}
          columns={({ cell, figure }) => [
            cell('Criterion', ({ name }) => name),
            figure(
              'They agree on',
              ({ calls, agreed }) =>
                calls === 0 ? dimmed('No reviews') : `${agreed} of ${counted(calls, 'call')}`,
              '128px',
            ),
            figure('Accuracy', ({ accuracy }) => percent(accuracy), '88px', 640),
            figure(
              'Kappa',
              ({ kappa, calls }) =>
                kappa === null
                  ? dimmed(calls === 0 ? '–' : 'one answer only')
                  : `${asDecimal(kappa)}, ${kappaWord(kappa)}`,
              '152px',
              480,
            ),
            figure('People pass', ({ baseRate }) => percent(baseRate), '96px', 640),
          ]}
        />
        <Text size="xs" c="dimmed" maw={720} mt="sm">
          Only calls on which both gave a clear answer count. <strong>People pass</strong> is how often people
          say yes; where they nearly always do, agreeing is easy. <strong>Kappa</strong> allows for that: 1 is
          perfect, 0 no better than guessing. Below 0.6, look at the disagreements and make the question
          clearer.
        </Text>
      </Panel>
      <Panel
        title="Where they disagree"
        aside={<ReviewButton name="Disagreements" ids={disagreements?.map(({ id }) => id)} />}
      >
        <QueryTable
          label="Disagreements"
          of={agreement}
          what="The disagreements"
          rows={disagreements}
          rowKey={({ key }) => key}
          expectedRows={3}
          columns={({ cell }) => [
            cell('Call', ({ id }) => <CallLink id={id} />, { width: '32%' }),
            cell('Criterion', ({ about }) => about, { from: 640 }),
            cell('People', ({ person }) => person, { width: '112px' }),
            cell('Model', ({ model }) => model, { width: '112px' }),
          ]}
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

function dimmed(words: string): ReactNode {
  return <span className="cb-dimmed">{words}</span>
}

function percent(share: number | null): ReactNode {
  return share === null ? dimmed('–') : asPercent(share)
}

/** The words of Altman, Practical Statistics for Medical Research (1991), page 404. */
function kappaWord(kappa: number): string {
  if (kappa <= 0.2) return 'poor'
  if (kappa <= 0.4) return 'fair'
  if (kappa <= 0.6) return 'moderate'
  return kappa <= 0.8 ? 'good' : 'very good'
}

function CallLink({ id }: { id: string }) {
  return (
    <PageLink {...to.call(id)} search={{ tab: 'analysis' }} size="sm">
      <Mono truncate>{id}</Mono>
    </PageLink>
  )
}

/** Opens calls as a queue of reviews. */
function ReviewButton({ name, ids }: { name: string; ids: readonly string[] | undefined }) {
  const start = useStartQueue()
  const isRefused = useRefusal('change') !== null
  const calls = [...new Set(ids)]
  if (calls.length === 0 || isRefused) return null
  return (
    <TextButton
      icon={IconListCheck}
      label={`Review ${counted(calls.length, 'call')}`}
      size="xs"
      loading={start.isPending}
      onClick={() =>
        start.mutate(
          { name, ids: calls },
          { onError: (error) => sayNotDone('The queue was not started', error) },
        )
      }
    />
  )
}

/** The calls that tell most when a person reviews them. */
function ReviewNext() {
  const next = useQuery(nextQuery(useProject().id))
  const rows = next.data?.data
  return (
    <Panel title="Review next" aside={<ReviewButton name="Review next" ids={rows?.map(({ id }) => id)} />}>
      <QueryTable
        label="Calls to review next"
        of={next}
        what="The calls"
        rows={rows}
        rowKey={({ id }) => id}
        expectedRows={5}
        columns={({ cell }) => [
          cell('Call', ({ id }) => <CallLink id={id} />, { width: '36%' }),
          cell('What the model says', ({ unknown, failed, passed }) =>
            [
              ...(unknown > 0 ? [`${unknown} unknown`] : []),
              ...(failed > 0 ? [`${failed} failed`] : []),
              ...(passed > 0 ? [`${passed} passed`] : []),
            ].join(', '),
          ),
        ]}
        empty={<p className="cb-dimmed">Every analyzed call has been reviewed, or none is analyzed yet.</p>}
      />
      <Text size="xs" c="dimmed" maw={720} mt="sm">
        Of the newest calls that nobody has reviewed: first those where the model is unsure, then those with
        both passed and failed criteria, then those of agents and end reasons that were reviewed least.
      </Text>
    </Panel>
  )
}
