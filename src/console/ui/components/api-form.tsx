import { Button, Group } from '@mantine/core'
import {
  type ComponentProps,
  type FormEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react'
import { type Act, useAct } from './acts.ts'
import { fieldErrors } from './field-errors.ts'
import { Problem } from './problem.tsx'

/** What an input of a form is given. */
export interface FieldProps<Value> {
  value: Value
  onChange: (next: Value) => void
  error?: string | undefined
}

interface ApiFormOptions<Values, Output, Body> extends Act<Body, Output> {
  /** What the fields have at first. */
  first: Values
  /** What they have instead, such as a draft. */
  draft?: Values | undefined
  /** What is sent of them; they themselves by default. */
  body?: (values: Values) => Body
  /** The fields that must not be blank. */
  needs?: readonly (keyof Values)[]
  /** Whether they can be sent, besides. */
  isReady?: (values: Values) => boolean
  /** Whether it edits what there is: sent only when that changes, and not emptied afterwards. */
  isEdit?: boolean
}

/** The state of a form that is one request. */
export function useApiForm<Values extends object, Output, Body = Values>({
  first,
  draft = first,
  body = (values) => values as unknown as Body,
  needs = [],
  isReady = () => true,
  isEdit = false,
  ...act
}: ApiFormOptions<Values, Output, Body>) {
  const [values, setValues] = useState(draft)
  const { mutate, reset, isPending, error } = useAct<Body, Output>({
    ...act,
    done: async (output, sent) => {
      await act.done?.(output, sent)
      if (!isEdit) setValues(first)
    },
  })
  const faults = fieldErrors(error)
  const shown = new Set<string>()
  const set = (changed: Partial<Values>) => setValues((before) => ({ ...before, ...changed }))
  const isChanged = !isEdit || JSON.stringify(body(values)) !== JSON.stringify(body(first))
  return {
    state: {
      isReady: isChanged && needs.every((name) => !isBlank(values[name])) && isReady(values),
      isPending,
      error,
      submit: (changed?: Partial<Values>) => mutate(body({ ...values, ...changed })),
      isSaid: () => Object.keys(faults).some((name) => shown.has(name)),
    },
    values,
    set,
    reset: () => {
      setValues(first)
      reset()
    },
    /** What an input without errors needs. */
    input: inputsOf(values, set),
    field: inputsOf(values, set, (fault) => {
      shown.add(fault)
      return faults[fault]
    }),
  }
}

/** Gives inputs their values by name; `fault` is what the API calls a field, if something else. */
export function inputsOf<Values extends object>(
  values: Values,
  set: (changed: Partial<Values>) => void,
  faultOf: (fault: string) => string | undefined = () => undefined,
) {
  return <Name extends keyof Values & string>(name: Name, fault: string = name) => ({
    value: values[name],
    // Inputs of Mantine give an event, others the value, which is one of those that they were given.
    onChange: (next: unknown) => set({ [name]: written(next) } as unknown as Partial<Values>),
    error: faultOf(fault),
  })
}

interface ApiFormProps extends Omit<ComponentProps<typeof ActionForm>, 'form' | 'isPending' | 'onSubmit'> {
  form: Pick<ReturnType<typeof useApiForm<object, unknown, unknown>>, 'state'>
}

/** A form above its button. A fault is said at its field, which gets the focus, or else below. */
export function ApiForm({ form, isReady = true, children, ...props }: ApiFormProps) {
  const { state } = form
  const element = useFaultFocus(state.error)
  return (
    <ActionForm
      ref={element}
      isReady={isReady && state.isReady}
      isPending={state.isPending}
      onSubmit={() => state.submit()}
      autoComplete="off"
      noValidate
      {...props}
    >
      {children}
      {state.error && !state.isSaid() && <Problem error={state.error} />}
    </ActionForm>
  )
}

/** A form whose first field at fault takes the focus. */
export function useFaultFocus(error: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    // The library marks the input of a password in its own way.
    const atFault = '[aria-invalid="true"], input[data-invalid]'
    if (error) form.current?.querySelector<HTMLElement>(atFault)?.focus()
  }, [error])
  return form
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

function written(next: unknown): unknown {
  const { currentTarget } = Object(next) as { currentTarget?: unknown }
  if (!(currentTarget instanceof HTMLElement)) return next
  const isChecked = currentTarget instanceof HTMLInputElement && currentTarget.type === 'checkbox'
  return isChecked ? currentTarget.checked : (currentTarget as HTMLInputElement | HTMLTextAreaElement).value
}

interface ActionFormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  /** The button's label. */
  label: ReactNode
  isReady?: boolean
  isPending: boolean
  /** Makes the button red. */
  isDanger?: boolean
  /** Makes the button as wide as the form. */
  isWide?: boolean
  onSubmit: () => void
  /** Shows a Cancel button. */
  onCancel?: (() => void) | undefined
  cancelLabel?: string
}

/** A form with its fields above the button that sends it. Enter does nothing while the button is off. */
export function ActionForm({
  label,
  isReady = true,
  isPending,
  isDanger = false,
  isWide = false,
  onSubmit,
  onCancel,
  cancelLabel = 'Cancel',
  children,
  ...form
}: ActionFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !isPending) onSubmit()
  }
  return (
    <form onSubmit={submit} className="cb-stack" {...form}>
      {children}
      <Group justify="flex-end" gap="xs">
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {cancelLabel}
          </Button>
        )}
        <Button
          type="submit"
          {...(isDanger && { color: 'red' })}
          disabled={!isReady}
          loading={isPending}
          fullWidth={isWide}
        >
          {label}
        </Button>
      </Group>
    </form>
  )
}
