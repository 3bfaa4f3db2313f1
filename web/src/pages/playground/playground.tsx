// Tries a model with a key's limits: a real call through the gateway that spends from that key.
import { NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { playgroundRoutes } from '../../../../src/admin/contract/trial.ts'
import type { PlaygroundSearch } from '../../base/address.ts'
import { call, modelAnswerMsMax } from '../../base/api.ts'
import { keyQuery, limitsQuery, modelsQuery } from '../../base/queries.ts'
import type { Separators } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { readCount } from '../../i18n/typed-numbers.ts'
import { useChange, useFields } from '../../parts/changes.tsx'
import { KeySelect } from '../../parts/filters.tsx'
import { CallRefusal, ErrorAlert, Notice } from '../../parts/notices.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { blockedTitle } from '../../parts/refusal-words.ts'
import { Conversation, type Turn } from './conversation.tsx'
import styles from './playground.module.css'
import { readTemperature, settingsProblems } from './settings-problems.ts'
import type { PlaygroundSettings, SettingsProblems } from './settings-problems.ts'

const route = getRouteApi('/app/settings/playground')

export function PlaygroundPage() {
  const words = useTranslation()
  const { t } = words
  const search = route.useSearch()
  const fields = useFields<PlaygroundSettings>({ system: '', maxTokens: '512', temperature: '' })
  const settings = fields.values
  const problems = settingsProblems(settings, words)
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [draft, setDraft] = useState('')
  const offer = useModelOffer(search.key)
  const model = offer.models.find((each) => each === search.model) ?? offer.models[0]
  const play = useChange([['keys'], ['frame'], ['usage'], ['requests']], {
    change: ({ key, said }: { readonly key: string; readonly said: readonly Turn[] }) =>
      call(playgroundRoutes.play, {
        body: bodyOf({ key, model: model ?? '', said }, settings, words.format.separators),
        timeoutMs: modelAnswerMsMax,
      }),
    onDone: (result) =>
      setTurns((old) => [...old, { role: 'assistant', content: result.text ?? '', result }]),
  })
  const say = () => {
    const { key } = search
    const content = draft
    if (key === undefined || Object.keys(problems).length > 0) return
    // A refusal is no answer of the model, so it is not sent with the next question.
    const said = [...turns.filter(({ result }) => result?.passes !== false), asked(content)]
    setTurns([...turns, asked(content)])
    setDraft('')
    // A question that was not delivered returns to the field.
    const takeBack = () => {
      setTurns(turns)
      setDraft((newer) => newer || content)
    }
    play.mutate({ key, said }, { onError: takeBack })
  }
  return (
    <>
      <PageHeader title={t('nav.playground')} about={t('playground.about')} />
      <div className={styles['layout']}>
        <Settings
          search={search}
          offer={offer}
          model={model}
          problems={problems}
          text={fields.text}
        />
        <Conversation
          turns={turns}
          isReady={search.key !== undefined && model !== undefined}
          isPending={play.isPending}
          error={play.error}
          draft={draft}
          onDraft={setDraft}
          onSay={say}
          onClear={() => setTurns([])}
        />
      </div>
    </>
  )
}

/** The chat models on the key's allowlist. */
function useModelOffer(keyId: string | undefined): ModelOffer {
  const key = useQuery({ ...keyQuery(keyId ?? ''), enabled: keyId !== undefined })
  const catalogue = useQuery(modelsQuery)
  const chat = catalogue.data?.filter(({ kind }) => kind === 'chat').map(({ id }) => id) ?? []
  return {
    models: chat.filter((id) => key.data?.models.includes(id)).toSorted(),
    isLoading: key.isLoading || catalogue.isLoading,
    error: catalogue.error ?? key.error,
    retry: () => {
      for (const query of [catalogue, key]) if (query.error) void query.refetch()
    },
  }
}

type Spoken = { readonly key: string; readonly model: string; readonly said: readonly Turn[] }

function bodyOf(
  { key, model, said }: Spoken,
  { system, maxTokens, temperature }: PlaygroundSettings,
  separators: Separators,
) {
  const tokens = readCount(maxTokens, separators)
  const degree = readTemperature(temperature, separators)
  return {
    key,
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...said.map(({ role, content }) => ({ role, content })),
    ],
    ...(tokens === undefined ? {} : { max_tokens: tokens }),
    ...(degree === undefined ? {} : { temperature: degree }),
  }
}

function asked(content: string): Turn {
  return { role: 'user', content }
}

/** The models to choose from; none if they could not be loaded. */
type ModelOffer = {
  readonly models: readonly string[]
  readonly isLoading: boolean
  readonly error: Error | null
  readonly retry: () => void
}

type SettingsProps = {
  readonly search: PlaygroundSearch
  readonly offer: ModelOffer
  readonly model: string | undefined
  readonly problems: SettingsProblems
  readonly text: ReturnType<typeof useFields<PlaygroundSettings>>['text']
}

function Settings(props: SettingsProps) {
  const { search, offer, model, problems, text } = props
  const { models, isLoading, error, retry } = offer
  const { t } = useTranslation()
  const navigate = route.useNavigate()
  const hasNone = search.key !== undefined && !isLoading && !error && models.length === 0
  const choose = (next: PlaygroundSearch) => void navigate({ search: next, replace: true })
  return (
    <section className="card" aria-label={t('playground.settings')}>
      <Stack>
        <KeySelect
          label={t('requests.key')}
          required
          value={search.key}
          onChange={(key) => choose({ key })}
        />
        {search.key !== undefined && <Verdict keyId={search.key} model={model} />}
        <NativeSelect
          label={t('requests.model')}
          disabled={models.length === 0}
          description={hasNone && t('playground.noModel')}
          value={model ?? ''}
          onChange={({ currentTarget }) => choose({ key: search.key, model: currentTarget.value })}
          data={isLoading ? [t('loading')] : [...models]}
        />
        {error && <ErrorAlert title={t('picker.failed')} error={error} onRetry={retry} />}
        <Textarea
          label={t('playground.system')}
          autosize
          minRows={2}
          maxRows={8}
          {...text('system')}
        />
        <TextInput
          inputMode="numeric"
          label={t('playground.maxTokens')}
          {...text('maxTokens')}
          error={problems.maxTokens}
        />
        <TextInput
          inputMode="decimal"
          label={t('playground.temperature')}
          placeholder={t('playground.usual')}
          {...text('temperature')}
          error={problems.temperature}
        />
      </Stack>
    </section>
  )
}

/** Whether a call would pass now, decided by the gateway's own code. */
function Verdict({ keyId, model }: { readonly keyId: string; readonly model: string | undefined }) {
  const { t, format } = useTranslation()
  const limits = useQuery(limitsQuery(keyId, model))
  if (!limits.data) return null
  const { passes, blocked_by: blocked, key } = limits.data
  return (
    <Notice
      tone={passes ? 'good' : 'bad'}
      title={t(passes ? 'verdict.passes' : blockedTitle(limits.data))}
    >
      {blocked && <CallRefusal error={blocked} />}
      {key.remaining !== null && (
        <div>{t('budget.part.free', { amount: format.moneyLeft(key.remaining) })}</div>
      )}
      <Link to="/settings/api-access/$id" params={{ id: keyId }}>
        {t('playground.openKey')}
      </Link>
    </Notice>
  )
}
