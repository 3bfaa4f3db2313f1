// Changes at the gateway: the button that makes one, what they made stale is refetched, and a toast confirms them.
import { Button, type ButtonProps, CloseButton } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { QueryKey, UseMutationResult } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import type { ChangeEvent, SubmitEvent } from 'react'
import { newIdempotencyKey, problemOf } from '../base/api.ts'
import { useTranslation } from '../i18n/i18n.ts'
import styles from './changes.module.css'

type Change<Input, Output> = {
  readonly change: (input: Input) => Promise<Output>
  /** Called at once: a value that is shown only once must not wait for the refetches. */
  readonly onAnswer?: (output: Output) => void
  readonly said?: (output: Output) => ReactNode
  readonly onDone?: (output: Output) => void
  readonly onError?: (error: Error) => void
}

export function useChange<Output, Input = void>(
  made: readonly QueryKey[],
  { change, onAnswer, said, onDone, onError }: Change<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    // Some answers carry a secret, so none is kept.
    gcTime: 0,
    onSuccess: async (output) => {
      onAnswer?.(output)
      await Promise.all(made.map((queryKey) => client.invalidateQueries({ queryKey })))
      if (said) showToast(said(output))
      onDone?.(output)
    },
    onError: (error) => onError?.(error),
  })
}

type BusyButtonProps = ButtonProps & {
  readonly isBusy: boolean
  readonly onClick: () => void
  readonly 'aria-label'?: string
}

/** Keeps the focus while its action runs. A button with `loading` is disabled, and the focus falls to the page. */
export function BusyButton({ isBusy, onClick, disabled, ...rest }: BusyButtonProps) {
  return (
    <Button
      {...rest}
      loading={isBusy}
      onClick={isBusy ? undefined : onClick}
      renderRoot={(props) => <button {...props} disabled={disabled} aria-disabled={isBusy} />}
    />
  )
}

/** One Idempotency-Key for every try to send the same values: a lost answer does nothing twice. */
export function useIdempotencyKey(): (body: unknown) => string {
  const [last, setLast] = useState({ body: '', key: '' })
  return (body) => {
    const text = JSON.stringify(body)
    if (text === last.body) return last.key
    const next = { body: text, key: newIdempotencyKey() }
    setLast(next)
    return next.key
  }
}

type Toast = { readonly id: number; readonly message: ReactNode }

const shownMs = 6_000
let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** A brief confirmation, read out; never the only place of an error. Stays while pointed at or focused. */
export function showToast(message: ReactNode): void {
  lastId += 1
  change([...toasts, { id: lastId, message }])
}

export function Toasts() {
  const shown = useSyncExternalStore(listen, () => toasts)
  return (
    <div className={styles['toasts']} role="status">
      {shown.map(({ id, message }) => (
        <ToastView key={id} message={message} onClose={() => close(id)} />
      ))}
    </div>
  )
}

type ToastViewProps = { readonly message: ReactNode; readonly onClose: () => void }

function ToastView({ message, onClose }: ToastViewProps) {
  const { t } = useTranslation()
  const [isKept, setKept] = useState(false)
  useEffect(() => {
    if (isKept) return
    const timer = setTimeout(onClose, shownMs)
    return () => clearTimeout(timer)
    // `onClose` is left out: it changes with every render of the list, but closes the same toast.
  }, [isKept])
  return (
    <div
      className={styles['toast']}
      onPointerEnter={() => setKept(true)}
      onPointerLeave={() => setKept(false)}
      onFocus={() => setKept(true)}
      onBlur={() => setKept(false)}
    >
      <div className={styles['message']}>{message}</div>
      <CloseButton onClick={onClose} aria-label={t('dialog.close')} />
    </div>
  )
}

function close(id: number): void {
  change(toasts.filter((toast) => toast.id !== id))
}

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The values of a form, and for a text field its properties, with what the gateway refused of it. */
export function useFields<Values extends Readonly<Record<string, unknown>>>(initial: Values) {
  const [values, setValues] = useState(initial)
  const set = (change: Partial<Values>) => setValues((old) => ({ ...old, ...change }))
  const text = (name: keyof Values & string, error: Error | null = null) => ({
    value: String(values[name]),
    error: problemOf(error, name),
    onChange: ({ currentTarget }: ChangeEvent<{ readonly value: string }>) =>
      set({ [name]: currentTarget.value } as Partial<Values>),
  })
  return { values, set, text }
}

/** For a form whose page stays: what was submitted, as the browser collects it. */
export const onSubmit =
  (act: (form: FormData) => void) =>
  (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    act(new FormData(event.currentTarget))
  }

export function textOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}
