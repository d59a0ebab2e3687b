import { Button, Group, PasswordInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { TwoFactorSetUp } from '../../../../access/people/two-factor.ts'
import { api, unwrap } from '../../api.ts'
import { ActionForm } from '../../components/action-form.tsx'
import { CodeField } from '../../components/code-field.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { fieldErrors, isAboutFields } from '../../components/field-errors.ts'
import { Mono } from '../../components/mono.tsx'
import { Panel } from '../../components/panel.tsx'
import { Problem } from '../../components/problem.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { useFocus } from '../../components/use-focus.ts'
import { personKeys } from '../../query-keys.ts'
import classes from './settings.module.css'

const formProps = { 'aria-label': 'Two-factor sign-in', noValidate: true }

/** What the panel shows in place of its state. */
type Step =
  | { name: 'asked'; for: 'setUp' | 'codes' | 'off' }
  | { name: 'app'; made: TwoFactorSetUp }
  | { name: 'codes'; backupCodes: string[] }

/** Turns the person's second factor on and off. */
export function TwoFactorPanel() {
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery({
    queryKey: personKeys.twoFactor,
    queryFn: ({ signal }) => unwrap(api['two-factor'].get({ fetch: { signal } })),
  })
  const [step, setStep] = useState<Step | null>(null)
  const close = () => {
    setStep(null)
    void queryClient.invalidateQueries({ queryKey: personKeys.twoFactor })
  }
  const aside = data?.isOn && <StatusBadge tone="success">On</StatusBadge>
  const show = () => {
    if (error && !data)
      return (
        <Problem
          error={error}
          title="The two-factor setting could not be loaded"
          onRetry={() => void refetch()}
        />
      )
    if (step) return <Steps step={step} onStep={setStep} onDone={close} onCancel={close} />
    return <State state={data} ask={(what) => setStep({ name: 'asked', for: what })} />
  }
  return (
    <Panel title="Two-factor sign-in" aside={aside}>
      {show()}
    </Panel>
  )
}

interface TwoFactorStepsProps {
  onDone: () => void
  onCancel: () => void
  cancelLabel: string
}

/** Sets the second factor up, from the password to the backup codes. */
export function TwoFactorSteps(props: TwoFactorStepsProps) {
  const [step, setStep] = useState<Step>({ name: 'asked', for: 'setUp' })
  return <Steps step={step} onStep={setStep} {...props} />
}

interface StepsProps {
  step: Step
  onStep: (step: Step) => void
  onDone: () => void
  onCancel: () => void
  cancelLabel?: string
}

function Steps({ step, onStep, onDone, ...cancelling }: StepsProps) {
  if (step.name === 'codes') return <BackupCodes codes={step.backupCodes} onDone={onDone} />
  if (step.name === 'asked') return <Asked what={step.for} onStep={onStep} onDone={onDone} {...cancelling} />
  const { made } = step
  return (
    <App
      made={made}
      onDone={() => onStep({ name: 'codes', backupCodes: made.backupCodes })}
      {...cancelling}
    />
  )
}

interface StateProps {
  /** Undefined while it loads. */
  state: { isOn: boolean; isRequired: boolean } | undefined
  ask: (what: 'setUp' | 'codes' | 'off') => void
}

function State({ state, ask }: StateProps) {
  const isOn = state?.isOn
  return (
    <Group justify="space-between" gap="md">
      <p className={`cb-dimmed ${classes.dangerText}`}>
        {isOn
          ? `After your password, sign-in asks for a code from your authenticator app or a backup code.${state?.isRequired ? ' The owner of this console requires it.' : ''}`
          : 'When on, sign-in also asks for a code from your authenticator app.'}
      </p>
      {isOn ? (
        <Group gap="xs">
          <Button variant="default" onClick={() => ask('codes')}>
            New backup codes
          </Button>
          {!state?.isRequired && (
            <Button variant="default" onClick={() => ask('off')}>
              Turn off
            </Button>
          )}
        </Group>
      ) : (
        <Button variant="default" disabled={isOn === undefined} onClick={() => ask('setUp')}>
          Set up
        </Button>
      )}
    </Group>
  )
}

const askedFor = {
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

interface AskedProps extends Omit<StepsProps, 'step'> {
  what: keyof typeof askedFor
}

/** Asks for the password and, if two-factor sign-in is on, a code first, then does what was chosen. */
function Asked({ what, onStep, onDone, ...cancelling }: AskedProps) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const asksForCode = what !== 'setUp'
  const field = useFocus<HTMLInputElement>()
  // What comes back goes to the panel's state alone: a cache would keep the secret.
  const { mutate, isPending, error } = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      if (what === 'setUp') onStep({ name: 'app', made: await unwrap(api['two-factor'].post({ password })) })
      else if (what === 'codes') {
        const { backupCodes } = await unwrap(api['two-factor']['backup-codes'].post({ password, code }))
        onStep({ name: 'codes', backupCodes })
      } else {
        await unwrap(api['two-factor']['turn-off'].post({ password, code }))
        notifications.show({ message: 'Two-factor sign-in is off.' })
        onDone()
      }
    },
  })
  const { text, label } = askedFor[what]
  return (
    <ActionForm
      {...formProps}
      isPending={isPending}
      isReady={password !== '' && !(asksForCode && code.trim() === '')}
      label={label}
      onSubmit={mutate}
      {...cancelling}
    >
      <p>{text}</p>
      <PasswordInput
        ref={field}
        label="Your password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={fieldErrors(error).password}
        visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
      />
      {asksForCode && (
        <CodeField value={code} onChange={setCode} error={fieldErrors(error).code} takesFocus={false} />
      )}
      {error && !isAboutFields(error, ['password', 'code']) && <Problem error={error} />}
    </ActionForm>
  )
}

interface AppProps extends Pick<StepsProps, 'onDone' | 'onCancel' | 'cancelLabel'> {
  made: TwoFactorSetUp
}

function App({ made: { secret, qr }, onDone, ...cancelling }: AppProps) {
  const [code, setCode] = useState('')
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => unwrap(api['two-factor']['turn-on'].post({ code })),
    onSuccess: onDone,
  })
  return (
    <ActionForm
      {...formProps}
      isPending={isPending}
      isReady={code.trim() !== ''}
      label="Turn on"
      onSubmit={mutate}
      {...cancelling}
    >
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
      <div>
        <p className={classes.label}>Or type this key into the app</p>
        <Group gap={4} wrap="nowrap">
          <span className={`cb-mono ${classes.twoFactorSecret}`}>{secret}</span>
          <CopyButton value={secret} label="Copy key" />
        </Group>
      </div>
      <CodeField value={code} onChange={setCode} error={fieldErrors(error).code} isAppOnly />
      {error && !isAboutFields(error, ['code']) && <Problem error={error} />}
    </ActionForm>
  )
}

function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <div className="cb-stack">
      <p role="status">
        These are your backup codes. This is the only time they are shown. Each one signs you in once without
        the app. Keep them where you keep your passwords.
      </p>
      <ul className={classes.backupCodes} aria-label="Backup codes">
        {codes.map((code) => (
          <li key={code}>
            <Mono>{code}</Mono>
          </li>
        ))}
      </ul>
      <Group justify="space-between">
        <CopyButton value={codes.join('\n')} label="Copy codes" withText />
        <Button onClick={onDone}>I have stored them</Button>
      </Group>
    </div>
  )
}
