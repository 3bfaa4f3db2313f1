// The conversation, each answer as it comes with what it takes, and the field for the next question.
import { Button, Group, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { requestRoutes } from '../../../../src/admin/contract/usage.ts'
import { call as callGateway } from '../../base/api.ts'
import { useSession } from '../../base/session.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { onSubmit } from '../../parts/changes.tsx'
import { PlayIcon, StopIcon } from '../../parts/icons.tsx'
import { CallRefusal, EmptyState, ErrorAlert, Notice } from '../../parts/notices.tsx'
import { callFacts } from '../../parts/refusal-words.ts'
import type { Play } from './play.ts'
import styles from './playground.module.css'
import type { Call, Turn } from './turns.ts'

type ConversationProps = {
  readonly play: Play
  readonly isReady: boolean
  /** The unsent question. */
  readonly draft: string
  readonly onDraft: (draft: string) => void
  readonly onSay: () => void
  /** Beside the button that sends. */
  readonly children: ReactNode
}

export function Conversation({ play, children, ...saying }: ConversationProps) {
  const { turns, isAnswering, error, clear } = play
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
      {/* Read out once the answer is whole, not word by word. */}
      <ol className={styles['turns']} aria-live="polite" aria-busy={isAnswering}>
        {turns.map((turn, index) => (
          // A conversation only grows, so the position identifies a turn.
          <li key={index} data-role={turn.role}>
            <span className={styles['speaker']}>{t(`playground.role.${turn.role}`)}</span>
            <Said turn={turn} />
          </li>
        ))}
      </ol>
      {error && <ErrorAlert title={t('testCall.notMade')} error={error} />}
      <SayForm play={play} {...saying}>
        {turns.length > 0 && (
          <Button variant="default" onClick={clear} disabled={isAnswering}>
            {t('playground.clear')}
          </Button>
        )}
        {children}
      </SayForm>
    </section>
  )
}

function Said({ turn: { content, call } }: { readonly turn: Turn }) {
  const { t } = useTranslation()
  const refused = call?.result?.error
  return (
    <>
      {content !== '' && <p className={styles['text']}>{content}</p>}
      {call && !refused && <CallFacts call={call} />}
      {refused && (
        <Notice tone="bad" title={t('testCall.refused', { status: call.result?.status ?? 0 })}>
          <CallRefusal error={refused} />
          <code>{refused.code}</code>
        </Notice>
      )}
    </>
  )
}

/** An estimate while it runs, then what it took. */
function CallFacts({ call }: { readonly call: Call }) {
  const words = useTranslation()
  const { t, format } = words
  const { result, progress, firstTokenMs, isStopped } = call
  const settled = useStopped(call)
  const took = result ?? settled
  const firstMs = took?.first_token_ms ?? firstTokenMs
  const facts = [
    ...(isStopped ? [t('playground.stopped')] : []),
    ...(took?.target ? [took.target] : []),
    ...(firstMs === undefined ? [] : [t('playground.firstToken', { ms: format.number(firstMs) })]),
    ...(took ? [callFacts(took, words)] : []),
    ...(progress && !took
      ? [
          t('playground.soFar', {
            tokens: format.number(progress.output_tokens),
            cost:
              progress.cost === null ? t('playground.costUnknown') : format.money(progress.cost),
          }),
        ]
      : []),
  ]
  return (
    <p className={styles['facts']}>
      {facts.length === 0 ? t('playground.waiting') : facts.join(' · ')}
    </p>
  )
}

/** So often the books are asked for a call that was stopped: the provider may still count it. */
const settledMs = 500

/** What a stopped call took, once that is in the books, for those who may read them. */
function useStopped({ key, requestId, isStopped }: Call) {
  const { may } = useSession()
  const { data } = useQuery({
    queryKey: ['requests', 'stopped', requestId],
    queryFn: async ({ signal }) => {
      const sent = { params: { id: key }, query: { limit: 10 }, signal }
      const { requests } = await callGateway(requestRoutes.listKeyRequests, sent)
      return requests.find(({ id }) => id === requestId) ?? null
    },
    enabled: isStopped === true && requestId !== undefined && may('requests:read'),
    refetchInterval: ({ state }) => (state.data ? false : settledMs),
  })
  return data ?? undefined
}

type SayFormProps = Omit<ConversationProps, 'children'> & { readonly children: ReactNode }

function SayForm({ play, isReady, draft, onDraft, onSay, children }: SayFormProps) {
  const { isAnswering, stop } = play
  const { t } = useTranslation()
  const field = useRef<HTMLTextAreaElement>(null)
  const canSay = isReady && !isAnswering && draft.trim() !== ''
  const submit = onSubmit(() => {
    if (!canSay) return
    onSay()
    // The button is disabled until something is typed again.
    field.current?.focus()
  })
  const end = () => {
    stop()
    field.current?.focus()
  }
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
        {isAnswering ? (
          <Button variant="default" leftSection={<StopIcon />} onClick={end}>
            {t('playground.stop')}
          </Button>
        ) : (
          <Button type="submit" disabled={!canSay}>
            {t('playground.send')}
          </Button>
        )}
      </Group>
    </form>
  )
}
