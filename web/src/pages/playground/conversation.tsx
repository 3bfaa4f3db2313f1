// The conversation, each answer with its cost, and the field for the next question.
import { Button, Group, Textarea } from '@mantine/core'
import { type ReactNode, useRef } from 'react'
import type { CallResult } from '../../../../src/admin/contract/trial.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { onSubmit } from '../../parts/changes.tsx'
import { PlayIcon } from '../../parts/icons.tsx'
import { CallRefusal, EmptyState, ErrorAlert, Loading, Notice } from '../../parts/notices.tsx'
import { callFacts } from '../../parts/refusal-words.ts'
import styles from './playground.module.css'

export type Turn = {
  readonly role: 'user' | 'assistant'
  readonly content: string
  /** The result of the call, for an answer. */
  readonly result?: CallResult
}

type ConversationProps = {
  readonly turns: readonly Turn[]
  readonly isReady: boolean
  readonly isPending: boolean
  readonly error: Error | null
  /** The unsent question. */
  readonly draft: string
  readonly onDraft: (draft: string) => void
  readonly onSay: () => void
  readonly onClear: () => void
}

export function Conversation(props: ConversationProps) {
  const { turns, isReady, isPending, error, draft, onDraft, onSay, onClear } = props
  const { t } = useTranslation()
  return (
    <section className={`card ${styles['conversation']}`} aria-label={t('playground.conversation')}>
      {turns.length === 0 && (
        <EmptyState
          isBare
          icon={PlayIcon}
          title={t('playground.empty')}
          about={t('playground.emptyAbout')}
        />
      )}
      <ol className={styles['turns']} aria-live="polite">
        {turns.map((turn, index) => (
          // A conversation only grows, so the position identifies a turn.
          <li key={index} data-role={turn.role}>
            <span className={styles['speaker']}>{t(`playground.role.${turn.role}`)}</span>
            <Said turn={turn} />
          </li>
        ))}
      </ol>
      {isPending && <Loading lines={2} />}
      {error && <ErrorAlert title={t('testCall.notMade')} error={error} />}
      <SayForm isReady={isReady && !isPending} draft={draft} onDraft={onDraft} onSay={onSay}>
        {turns.length > 0 && (
          <Button variant="default" onClick={onClear} disabled={isPending}>
            {t('playground.clear')}
          </Button>
        )}
      </SayForm>
    </section>
  )
}

function Said({ turn: { content, result } }: { readonly turn: Turn }) {
  const words = useTranslation()
  const { t } = words
  if (result?.error)
    return (
      <Notice tone="bad" title={t('testCall.refused', { status: result.status })}>
        <CallRefusal error={result.error} />
        <code>{result.error.code}</code>
      </Notice>
    )
  return (
    <>
      <p className={styles['text']}>{content}</p>
      {result && (
        <p className={styles['facts']}>
          {result.target ?? result.model} · {callFacts(result, words)}
        </p>
      )}
    </>
  )
}

type SayFormProps = Pick<ConversationProps, 'isReady' | 'draft' | 'onDraft' | 'onSay'> & {
  readonly children: ReactNode
}

function SayForm({ isReady, draft, onDraft, onSay, children }: SayFormProps) {
  const { t } = useTranslation()
  const field = useRef<HTMLTextAreaElement>(null)
  const submit = onSubmit(() => {
    if (!isReady || draft.trim() === '') return
    onSay()
    // The button is disabled until something is typed again.
    field.current?.focus()
  })
  return (
    <form onSubmit={submit}>
      <Textarea
        ref={field}
        label={t('playground.message')}
        autosize
        minRows={3}
        maxRows={12}
        value={draft}
        onChange={({ currentTarget }) => onDraft(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit()
        }}
      />
      <Group justify="flex-end" mt="sm">
        {children}
        <Button type="submit" disabled={!isReady || draft.trim() === ''}>
          {t('playground.send')}
        </Button>
      </Group>
    </form>
  )
}
