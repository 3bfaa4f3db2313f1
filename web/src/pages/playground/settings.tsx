// The settings of a playground call: key, model and parameters.
import { NativeSelect, Stack, TextInput, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useFormat } from '../../i18n/use-format.ts'
import { useTranslation } from '../../i18n/use-translation.ts'
import { blockedTitle } from '../../parts/blocked-title.ts'
import { CallRefusal } from '../../parts/call-refusal.tsx'
import { ErrorAlert } from '../../parts/error-alert.tsx'
import { KeySelect } from '../../parts/key-select.tsx'
import { Notice } from '../../parts/notice.tsx'
import { limitsQuery } from '../../queries.ts'
import type { PlaygroundSettings, SettingsProblems } from './settings-problems.ts'
import type { PlaygroundSearch } from './playground-search.ts'

const route = getRouteApi('/app/settings/playground')

/** The models to choose from; none if they could not be loaded. */
export type ModelOffer = {
  readonly models: readonly string[]
  readonly isLoading: boolean
  readonly error: Error | null
  readonly retry: () => void
}

type SettingsProps = {
  readonly search: PlaygroundSearch
  readonly offer: ModelOffer
  readonly model: string | undefined
  readonly settings: PlaygroundSettings
  readonly problems: SettingsProblems
  readonly onChange: (settings: PlaygroundSettings) => void
}

export function Settings(props: SettingsProps) {
  const { search, offer, model, settings, problems, onChange } = props
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
          value={settings.system}
          onChange={({ currentTarget }) => onChange({ ...settings, system: currentTarget.value })}
        />
        <TextInput
          inputMode="numeric"
          label={t('playground.maxTokens')}
          error={problems.maxTokens}
          value={settings.maxTokens}
          onChange={({ currentTarget }) =>
            onChange({ ...settings, maxTokens: currentTarget.value })
          }
        />
        <TextInput
          inputMode="decimal"
          label={t('playground.temperature')}
          error={problems.temperature}
          placeholder={t('playground.usual')}
          value={settings.temperature}
          onChange={({ currentTarget }) =>
            onChange({ ...settings, temperature: currentTarget.value })
          }
        />
      </Stack>
    </section>
  )
}

type VerdictProps = { readonly keyId: string; readonly model: string | undefined }

/** Whether a call would pass now, decided by the gateway's own code. */
function Verdict({ keyId, model }: VerdictProps) {
  const { t } = useTranslation()
  const format = useFormat()
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
