// Tries a model with a key's limits: a real call through the gateway that spends from that key.
import { Button, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { PLAY_OUTPUT_TOKENS, type Spoken } from '../../../../src/admin/contract/trial.ts'
import type { PlaygroundSearch } from '../../base/address.ts'
import { keyQuery, limitsQuery, modelsQuery } from '../../base/queries.ts'
import type { Separators } from '../../i18n/format.ts'
import { useTranslation } from '../../i18n/i18n.ts'
import { readCount } from '../../i18n/typed-numbers.ts'
import { useFields } from '../../parts/changes.tsx'
import { KeySelect } from '../../parts/filters.tsx'
import { CodeIcon } from '../../parts/icons.tsx'
import { CallRefusal, ErrorAlert, Notice } from '../../parts/notices.tsx'
import { dialogOnDemand } from '../../parts/on-demand.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { blockedTitle } from '../../parts/refusal-words.ts'
import { Conversation } from './conversation.tsx'
import { usePlay } from './play.ts'
import styles from './playground.module.css'
import { readTemperature, settingsProblems } from './settings-problems.ts'
import type { PlaygroundSettings, SettingsProblems } from './settings-problems.ts'
import { saidIn, type Turn } from './turns.ts'

const route = getRouteApi('/app/settings/playground')

// Most people only read the answer.
const CodeDialog = dialogOnDemand(async () => (await import('./code-dialog.tsx')).CodeDialog)

export function PlaygroundPage() {
  const words = useTranslation()
  const { t } = words
  const search = route.useSearch()
  const fields = useFields<PlaygroundSettings>({ system: '', maxTokens: '512', temperature: '' })
  const problems = settingsProblems(fields.values, words)
  const [draft, setDraft] = useState('')
  const [isCode, setCode] = useState(false)
  // A question that was not delivered returns to the field.
  const play = usePlay((question) => setDraft((newer) => newer || question))
  const offer = useModelOffer(search.key)
  const model = offer.models.find((each) => each === search.model) ?? offer.models[0] ?? ''
  const spoken: Spoken = {
    model,
    messages: messagesOf(fields.values.system, play.turns, draft),
    ...numbersOf(fields.values, words.format.separators),
  }
  const { key } = search
  const say = () => {
    if (key === undefined || Object.keys(problems).length > 0) return
    play.say(draft, { key, ...spoken })
    setDraft('')
  }
  const isReady = key !== undefined && model !== ''
  return (
    <>
      <PageHeader title={t('nav.playground')} about={t('playground.about')} />
      <div className={styles['layout']}>
        <Settings
          search={search}
          offer={offer}
          model={model === '' ? undefined : model}
          problems={problems}
          text={fields.text}
        />
        <Conversation play={play} isReady={isReady} draft={draft} onDraft={setDraft} onSay={say}>
          <Button
            variant="default"
            leftSection={<CodeIcon />}
            disabled={!isReady || spoken.messages.every(({ role }) => role === 'system')}
            onClick={() => setCode(true)}
          >
            {t('playground.code')}
          </Button>
        </Conversation>
      </div>
      {isCode && key !== undefined && (
        <CodeDialog keyId={key} spoken={spoken} onClose={() => setCode(false)} />
      )}
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

/** The system message, the conversation, and what would be said next; if that is nothing, up to the last question. */
function messagesOf(system: string, turns: readonly Turn[], draft: string): Spoken['messages'] {
  const next: Turn[] = draft.trim() === '' ? [] : [{ role: 'user', content: draft }]
  const asked = turns.slice(0, turns.findLastIndex(({ role }) => role === 'user') + 1)
  const said = saidIn(next.length === 0 ? asked : [...turns, ...next])
  return system.trim() === '' ? said : [{ role: 'system', content: system }, ...said]
}

function numbersOf({ maxTokens, temperature }: PlaygroundSettings, separators: Separators) {
  const degree = readTemperature(temperature, separators)
  return {
    max_tokens: readCount(maxTokens, separators) ?? PLAY_OUTPUT_TOKENS,
    ...(degree === undefined ? {} : { temperature: degree }),
  }
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
  const { passes, blocked_by: blocked, remaining } = limits.data
  return (
    <Notice
      tone={passes ? 'good' : 'bad'}
      title={t(passes ? 'verdict.passes' : blockedTitle(limits.data))}
    >
      {blocked && <CallRefusal error={blocked} />}
      {passes && remaining !== null && (
        <div>{t('verdict.left', { amount: format.moneyLeft(remaining) })}</div>
      )}
      <Link to="/settings/api-access/$id" params={{ id: keyId }}>
        {t('playground.openKey')}
      </Link>
    </Notice>
  )
}
