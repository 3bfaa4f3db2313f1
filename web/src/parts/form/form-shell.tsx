// What is around the fields in the forms of keys and of groups: sections with a title, the summary of what is wrong, the
// buttons, the question before they are left, and the version that an edit started from.
import { Button } from '@mantine/core'
import { type QueryKey, useQuery, type UseQueryOptions } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useId, useState } from 'react'
import { useTranslation } from '../../i18n/i18n.ts'
import { ConfirmDialog } from '../dialogs.tsx'
import { FormErrorSummary } from '../notices.tsx'
import type { CheckedForm } from './checked-form.ts'
import styles from './form.module.css'

/** What creating and editing decide about a form. */
export type FormProps<State> = {
  readonly state: State
  /** The words of the button that sends it. */
  readonly action: string
  readonly isPending: boolean
  readonly onSubmit: () => void
  readonly onCancel: () => void
  /** Shown above the buttons: why it could not be saved. */
  readonly failure?: ReactNode
}

type FormShellProps = FormProps<Pick<CheckedForm<unknown>, 'errors' | 'refusals'>> & {
  readonly children: ReactNode
  /** Beside the fields, or below them where there is no room. */
  readonly aside?: ReactNode
}

export function FormShell(props: FormShellProps) {
  const { state, action, isPending, onSubmit, onCancel, failure, children, aside } = props
  const { t } = useTranslation()
  return (
    <form
      noValidate
      className={aside ? styles['layout'] : undefined}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <div className={styles['groups']}>
        <FormErrorSummary errors={state.errors} refusals={state.refusals} />
        {children}
        {failure}
        <div className={styles['buttons']}>
          <Button type="submit" size="md" loading={isPending}>
            {action}
          </Button>
          <Button variant="default" size="md" onClick={onCancel}>
            {t('dialog.cancel')}
          </Button>
        </div>
      </div>
      {aside}
    </form>
  )
}

type FieldGroupProps = {
  /** The texts of its title and of what it is about. */
  readonly words:
    | `keyForm.group.${'identity' | 'models' | 'budget' | 'alerts' | 'limits' | 'lifetime'}`
    | `groupForm.group.${'identity' | 'models' | 'budget' | 'limits' | 'rules'}`
  /** What the fields say, in a few words: then they are a row that opens, because few people change them. */
  readonly brief?: ReactNode
  readonly children: ReactNode
}

export function FieldGroup({ words, brief, children }: FieldGroupProps) {
  const { t } = useTranslation()
  const id = useId()
  const title = <h2 id={id}>{t(`${words}.title`)}</h2>
  const fields = (
    <>
      <p>{t(`${words}.about`)}</p>
      {children}
    </>
  )
  return (
    <section className={`card ${styles['group']}`} aria-labelledby={id}>
      {brief === undefined ? (
        <>
          {title}
          {fields}
        </>
      ) : (
        <details className={styles['row']}>
          <summary>
            {title}
            <span>{brief}</span>
          </summary>
          {fields}
        </details>
      )}
    </section>
  )
}

/** The version that a form started from stays: a refetch would undo what was typed. */
export function useOriginal<Answer, Key extends QueryKey>(
  asked: UseQueryOptions<Answer, Error, Answer, Key>,
) {
  const query = useQuery({ ...asked, refetchInterval: false, refetchOnMount: 'always' })
  const [original, setOriginal] = useState<Answer>()
  if (original === undefined && query.data !== undefined && query.isFetchedAfterMount)
    setOriginal(query.data)
  const reload = () => void query.refetch().then(({ data }) => setOriginal(data))
  return { query, original, reload }
}

/** Asks before a form with unsaved changes is left, by a link or by closing the page. */
export function LeaveQuestion({ isDirty }: { readonly isDirty: boolean }) {
  const { t } = useTranslation()
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <ConfirmDialog
      title={t('leave.title')}
      action={t('leave.action')}
      effect={t('leave.effect')}
      isDangerous
      onConfirm={blocker.proceed}
      onCancel={blocker.reset}
    />
  )
}
