// What a page says instead of its content, or beside it: notices, errors, empty lists, and that something loads.
import { Button, Skeleton, Stack } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { ApiError } from '../base/api.ts'
import { said, useTranslation } from '../i18n/i18n.ts'
import { CheckIcon, type Icon, InfoIcon, WarningIcon } from './icons.tsx'
import styles from './notices.module.css'
import { refusalWords, type RefusedCall } from './refusal-words.ts'

type NoticeTone = 'info' | 'good' | 'warn' | 'bad'

type NoticeProps = {
  readonly tone: NoticeTone
  readonly title?: ReactNode
  readonly children?: ReactNode
  readonly actions?: ReactNode
  /** Read out when it appears; for messages that follow an action of the reader. */
  readonly announce?: boolean
}

const icons = { info: InfoIcon, good: CheckIcon, warn: WarningIcon, bad: WarningIcon }

export function Notice({ tone, title, children, actions, announce = false }: NoticeProps) {
  const Icon = icons[tone]
  const role = tone === 'bad' ? 'alert' : 'status'
  return (
    <div className={styles['notice']} data-tone={tone} role={announce ? role : undefined}>
      <span className={styles['icon']}>
        <Icon />
      </span>
      <div className={styles['body']}>
        {title && <p className={styles['title']}>{title}</p>}
        {children}
        {actions && <div className={styles['actions']}>{actions}</div>}
      </div>
    </div>
  )
}

/** A query as far as its failure goes. */
export type Failing = { readonly error: Error | null; readonly refetch: () => unknown }

type QueryErrorProps = { readonly title: string; readonly query: Failing }

/** Why a query failed, if it did, and a button to repeat it. */
export function QueryError({ title, query: { error, refetch } }: QueryErrorProps) {
  return error && <ErrorAlert title={title} error={error} onRetry={() => void refetch()} />
}

type ErrorAlertProps = {
  /** What could not be done: "The keys could not be loaded." */
  readonly title: string
  readonly error: Error
  readonly onRetry?: () => void
}

/** A failed request: what happened, and the code and request id to quote. */
export function ErrorAlert({ title, error, onRetry }: ErrorAlertProps) {
  const { t } = useTranslation()
  const retry = onRetry && (
    <Button size="compact-sm" variant="default" onClick={onRetry}>
      {t('error.retry')}
    </Button>
  )
  return (
    <Notice tone="bad" title={title} actions={retry} announce>
      <ErrorWords error={error} />
    </Notice>
  )
}

/** The message of an error: the gateway's own, or that it did not answer, or that something else did. */
function ErrorWords({ error }: { readonly error: Error }) {
  const { t } = useTranslation()
  if (!(error instanceof ApiError)) return <>{t('error.unexpected')}</>
  if (error.code === 'unreachable') return <>{t('error.unreachable')}</>
  if (error.code === 'unanswered') return <>{t('error.unanswered')}</>
  if (error.code === 'not_signed_in') return <>{t('error.sessionEnded')}</>
  if (error.code === 'not_understood')
    return <>{t('error.notUnderstood', { status: error.status })}</>
  return (
    <>
      <div className="break">{said(error)}</div>
      <small className="muted">
        <code>{error.code}</code>
        {error.requestId && (
          <>
            {' · '}
            {t('error.requestId')} <code>{error.requestId}</code>
          </>
        )}
      </small>
    </>
  )
}

export type EmptyStateProps = {
  readonly icon: Icon
  readonly title: string
  readonly about?: ReactNode
  readonly actions?: ReactNode
  /** It stands inside a card. */
  readonly isBare?: boolean
}

/** An empty list: says whether nothing exists yet or nothing matches, and what to do. */
export function EmptyState(props: EmptyStateProps) {
  const { icon: Icon, title, about, actions, isBare = false } = props
  return (
    <div className={isBare ? undefined : 'card'}>
      <div className={styles['empty']}>
        <span className={styles['emptyIcon']}>
          <Icon size={22} />
        </span>
        <h2>{title}</h2>
        {about && <p>{about}</p>}
        {actions && <div className={styles['emptyActions']}>{actions}</div>}
      </div>
    </div>
  )
}

type LoadingProps = {
  /** The number of lines, and the height of each in pixels. */
  readonly lines?: number
  readonly height?: number
  /** Instead: the parts of a page below each other, each with its height in pixels. */
  readonly parts?: readonly number[]
}

/** Placeholders of the final height while something loads, with a word for screen readers. */
export function Loading({ lines = 3, height = 20, parts }: LoadingProps) {
  const { t } = useTranslation()
  const heights = parts ?? Array.from({ length: lines }, () => height)
  return (
    <div aria-busy="true">
      <span role="status" className="visually-hidden">
        {t('loading')}
      </span>
      <Stack gap={parts ? 'lg' : 'sm'} aria-hidden="true">
        {heights.map((each, index) => (
          // The place is the identity of a placeholder.
          <Skeleton key={index} height={each} radius="md" />
        ))}
      </Stack>
    </div>
  )
}

export type FieldError = {
  /** The id of the field's element. */
  readonly fieldId: string
  readonly label: string
  readonly message: string
}

type FormErrorSummaryProps = {
  readonly errors: readonly FieldError[]
  /** Increases with every refused submit; the focus moves here each time. */
  readonly refusals: number
}

/** The errors of a form, above it, each a link to its field; takes the focus when a submit is refused. */
export function FormErrorSummary({ errors, refusals }: FormErrorSummaryProps) {
  const { t } = useTranslation()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (refusals > 0) box.current?.focus()
  }, [refusals])
  if (errors.length === 0) return null
  return (
    <div ref={box} tabIndex={-1} role="alert">
      <Notice tone="bad" title={t('form.problems', { count: errors.length })}>
        <ul>
          {errors.map(({ fieldId, label, message }) => (
            <li key={fieldId}>
              <a
                href={`#${fieldId}`}
                onClick={(event) => {
                  event.preventDefault()
                  const field = document.getElementById(fieldId)
                  field?.closest('details:not([open])')?.setAttribute('open', '')
                  field?.focus()
                }}
              >
                {label}
              </a>
              : {message}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  )
}

type CallRefusalProps = {
  readonly error: RefusedCall
  /** A link to the setting that lifts the limit is beside it. */
  readonly hasRemedy?: boolean
}

export function CallRefusal({ error, hasRemedy = false }: CallRefusalProps) {
  const words = useTranslation()
  const lines = refusalWords(error, words)
  const told = hasRemedy ? lines.filter((line) => line !== words.t('callRefusal.raise')) : lines
  return told.map((line) => (
    <div key={line} className="break">
      {line}
    </div>
  ))
}
