import { Button, Group, PasswordInput, SimpleGrid } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TwoFactorSetUp } from '../../../../access/people/two-factor.ts'
import { type Answered, api, pathOf, read, unwrap } from '../../api.ts'
import { ApiForm, useApiForm } from '../../components/api-form.tsx'
import { CopyButton, Mono } from '../../components/code.tsx'
import { CodeField } from '../../components/code-field.tsx'
import { TextButton } from '../../components/icon-button.tsx'
import { Labelled, Loaded } from '../../components/page.tsx'
import { Panel } from '../../components/panel.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useFocus } from '../../components/use-focus.ts'
import classes from './settings.module.css'

/** The letters of a key that is typed by hand. */
const lettersAtOnce = 4
const formProps = { 'aria-label': 'Two-factor sign-in', autoComplete: 'on' }

/** What the panel shows in place of its state. */
type Step =
  | { name: 'password'; for: Purpose }
  | { name: 'app'; made: TwoFactorSetUp }
  | { name: 'codes'; backupCodes: string[] }
type Purpose = keyof typeof purposes

/** What the password is asked for. */
const purposes = {
  setUp: { text: 'Enter your password to set up an authenticator app.', label: 'Continue' },
  codes: {
    text: 'Enter your password and a code to create ten new backup codes. The old ones stop working.',
    label: 'Create codes',
  },
  off: {
    text: 'Enter your password and a code to turn off two-factor sign-in. The app’s codes and the backup codes stop working.',
    label: 'Turn off',
  },
}

/** Turns the person's second factor on and off. */
export function TwoFactorPanel() {
  const queryClient = useQueryClient()
  const state = useQuery(read(api['two-factor']))
  const [step, setStep] = useState<Step | null>(null)
  const close = () => {
    setStep(null)
    void queryClient.invalidateQueries({ queryKey: pathOf(api['two-factor']) })
  }
  return (
    <Panel title="Two-factor sign-in" aside={state.data?.isOn && <StatusBadge tone="success" label="On" />}>
      {step ? (
        <Steps step={step} onStep={setStep} onDone={close} onCancel={close} />
      ) : (
        <Loaded query={state} what="The two-factor setting">
          {(data) => <State {...data} ask={(purpose) => setStep({ name: 'password', for: purpose })} />}
        </Loaded>
      )}
    </Panel>
  )
}

interface Ending {
  onDone: () => void
  onCancel: () => void
  cancelLabel?: string
}

/** Sets the second factor up, from the password to the backup codes. */
export function TwoFactorSteps(ending: Ending) {
  const [step, setStep] = useState<Step>({ name: 'password', for: 'setUp' })
  return <Steps step={step} onStep={setStep} {...ending} />
}

interface StepsProps extends Ending {
  step: Step
  onStep: (step: Step) => void
}

function Steps({ step, onStep, ...ending }: StepsProps) {
  switch (step.name) {
    case 'password':
      return <PasswordStep purpose={step.for} onStep={onStep} {...ending} />
    case 'app':
      return <AppStep made={step.made} onStep={onStep} {...ending} />
    case 'codes':
      return <BackupCodes codes={step.backupCodes} onDone={ending.onDone} />
  }
}

interface StateProps {
  isOn: boolean
  isRequired: boolean
  ask: (purpose: Purpose) => void
}

function State({ isOn, isRequired, ask }: StateProps) {
  const button = (label: string, purpose: Purpose) => (
    <TextButton label={label} variant="default" onClick={() => ask(purpose)} />
  )
  return (
    <Group justify="space-between" gap="md">
      <p className="cb-dimmed" style={{ flex: '1 1 280px' }}>
        {isOn
          ? `After your password, sign-in asks for a code from your authenticator app or a backup code.${isRequired ? ' The owner of this console requires it.' : ''}`
          : 'When on, sign-in also asks for a code from your authenticator app.'}
      </p>
      {isOn ? (
        <Group gap="xs">
          {button('New backup codes', 'codes')}
          {!isRequired && button('Turn off', 'off')}
        </Group>
      ) : (
        button('Set up', 'setUp')
      )}
    </Group>
  )
}

interface PasswordStepProps extends Ending {
  purpose: Purpose
  onStep: (step: Step) => void
}

/** Asks for the password and, if two-factor sign-in is on, a code first, then does what was chosen. */
function PasswordStep({ purpose, onStep, onDone, ...cancelling }: PasswordStepProps) {
  const asksForCode = purpose !== 'setUp'
  const field = useFocus<HTMLInputElement>()
  const form = useApiForm({
    first: { password: '', code: '' },
    isReady: ({ password, code }) => password !== '' && !(asksForCode && code.trim() === ''),
    send: async (proof): Promise<Answered<Step>> => ({ data: await perform(purpose, proof), error: null }),
    done: (next: Step | null) => (next ? onStep(next) : onDone()),
  })
  const { text, label } = purposes[purpose]
  return (
    <ApiForm {...formProps} form={form} label={label} {...cancelling}>
      <p>{text}</p>
      <PasswordInput
        ref={field}
        label="Your password"
        autoComplete="current-password"
        {...form.field('password')}
      />
      {asksForCode && <CodeField takesFocus={false} {...form.field('code')} />}
    </ApiForm>
  )
}

/** @returns what follows; null for nothing */
async function perform(purpose: Purpose, proof: { password: string; code: string }): Promise<Step | null> {
  const factor = api['two-factor']
  if (purpose === 'setUp')
    return { name: 'app', made: await unwrap(factor.post({ password: proof.password })) }
  if (purpose === 'codes') {
    const { backupCodes } = await unwrap(factor['backup-codes'].post(proof))
    return { name: 'codes', backupCodes }
  }
  await unwrap(factor['turn-off'].post(proof))
  notifications.show({ message: 'Two-factor sign-in is off.' })
  return null
}

interface AppStepProps extends Ending {
  made: TwoFactorSetUp
  onStep: (step: Step) => void
}

function AppStep({ made: { secret, qr, backupCodes }, onStep, onDone: _, ...cancelling }: AppStepProps) {
  const form = useApiForm({
    first: { code: '' },
    needs: ['code'],
    send: (body) => api['two-factor']['turn-on'].post(body),
    done: () => onStep({ name: 'codes', backupCodes }),
  })
  return (
    <ApiForm {...formProps} form={form} label="Turn on" {...cancelling}>
      <p>Scan this with your authenticator app, then enter the code that it shows.</p>
      <svg
        className={classes.qr}
        role="img"
        aria-label="QR code for an authenticator app"
        viewBox={`0 0 ${qr.size} ${qr.size}`}
        shapeRendering="crispEdges"
      >
        <path d={qr.path} />
      </svg>
      <Labelled label="Or type this key into the app">
        <Group gap={4} wrap="nowrap">
          <Group component="span" gap="0 8px" className="cb-mono">
            {Array.from({ length: secret.length / lettersAtOnce }, (_, at) => at * lettersAtOnce).map(
              (from) => (
                <span key={from}>{secret.slice(from, from + lettersAtOnce)}</span>
              ),
            )}
          </Group>
          <CopyButton value={secret} label="Copy key" />
        </Group>
      </Labelled>
      <CodeField isAppOnly {...form.field('code')} />
    </ApiForm>
  )
}

function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <div className="cb-stack">
      <p role="status">
        These are your backup codes. This is the only time they are shown. Each one signs you in once without
        the app. Keep them where you keep your passwords.
      </p>
      <SimpleGrid
        component="ul"
        cols={2}
        spacing="xl"
        verticalSpacing={4}
        maw={280}
        aria-label="Backup codes"
      >
        {codes.map((code) => (
          <li key={code}>
            <Mono>{code}</Mono>
          </li>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <CopyButton value={codes.join('\n')} label="Copy codes" withText />
        <Button onClick={onDone}>I have stored them</Button>
      </Group>
    </div>
  )
}
