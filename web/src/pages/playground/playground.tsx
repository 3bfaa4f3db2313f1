// Tries a model with a key's limits: a real call through the gateway that spends from that key.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { CallResult } from '../../../../src/admin/contract/calls.ts'
import { playgroundRoutes } from '../../../../src/admin/contract/playground.ts'
import { call, modelAnswerMsMax } from '../../api.ts'
import { readCount } from '../../i18n/typed-numbers.ts'
import type { Separators } from '../../i18n/format.ts'
import { useWords } from '../../i18n/use-words.ts'
import { PageHeader } from '../../parts/page-header.tsx'
import { keyQuery, modelsQuery } from '../../queries.ts'
import { useChange } from '../../use-change.ts'
import { Conversation } from './conversation.tsx'
import type { Turn } from './conversation.tsx'
import { Settings } from './settings.tsx'
import type { ModelOffer } from './settings.tsx'
import { readTemperature, settingsProblems } from './settings-problems.ts'
import type { PlaygroundSettings } from './settings-problems.ts'
import styles from './playground.module.css'

const route = getRouteApi('/app/settings/playground')

export function PlaygroundPage() {
  const words = useWords()
  const { t } = words
  const search = route.useSearch()
  const [settings, setSettings] = useState<PlaygroundSettings>({
    system: '',
    maxTokens: '512',
    temperature: '',
  })
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
    onDone: (result) => setTurns((old) => [...old, answered(result)]),
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
          settings={settings}
          problems={problems}
          onChange={setSettings}
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

function answered(result: CallResult): Turn {
  return { role: 'assistant', content: result.text ?? '', result }
}
